// jansson: the JSON parser. One importer: Wire.
#include <jansson.h>

// JSON_COMPACT is defined with a cast-free constant, but together with others as a shifted macro that Swift
// does not see.
static inline size_t cjansson_compact(void) { return JSON_COMPACT; }
