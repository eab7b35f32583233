"""One package per question: its command, its public function, its study and its answer."""
