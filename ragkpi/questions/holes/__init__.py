"""How much unjudged documents can change values, and which to judge first."""
