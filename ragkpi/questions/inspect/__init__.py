"""The formats and contents of files, and whether a run and qrels match."""
