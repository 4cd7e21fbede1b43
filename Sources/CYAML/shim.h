// libyaml: the settings file. One importer: Settings.
#include <yaml.h>

// The parts of an event lie in a union, which Swift shows as one overlapping type; these read one part each.
static inline const char *cyaml_scalar(const yaml_event_t *event, size_t *length) {
  *length = event->data.scalar.length;
  return (const char *)event->data.scalar.value;
}

static inline int cyaml_has_anchor(const yaml_event_t *event) {
  switch (event->type) {
  case YAML_ALIAS_EVENT: return 1;
  case YAML_SCALAR_EVENT: return event->data.scalar.anchor != NULL;
  case YAML_SEQUENCE_START_EVENT: return event->data.sequence_start.anchor != NULL;
  case YAML_MAPPING_START_EVENT: return event->data.mapping_start.anchor != NULL;
  default: return 0;
  }
}
