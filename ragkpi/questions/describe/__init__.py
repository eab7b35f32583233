"""The measures, the formats and the JSON schema, listed and explained."""
