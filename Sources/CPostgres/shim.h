// libpq 14 or later (pipeline mode). One importer: PostgresStorage.
#include <libpq-fe.h>
