"""Prints the documents of YAML files as one JSON object: {"documents": [...]}."""

import json
import sys

import yaml

documents = []
for path in sys.argv[1:]:
    with open(path, encoding="utf-8") as file:
        documents += [document for document in yaml.safe_load_all(file) if document is not None]
json.dump({"documents": documents}, sys.stdout)
