"""The story grammar: word tables, characters and templates, and the forms that a document can take."""
