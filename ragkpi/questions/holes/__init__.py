"""How much unjudged documents can change values, and which documents to judge first."""
