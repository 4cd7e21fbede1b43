// SQLite 3.37 or later (STRICT tables). One importer: SQLiteStorage.
#include <sqlite3.h>

// sqlite3_db_config is variadic.
static inline int csqlite_set_flag(sqlite3 *connection, int flag, int value) {
  return sqlite3_db_config(connection, flag, value, (int *)0);
}

// SQLITE_TRANSIENT is a cast macro. No bytes at all may come as a null pointer, which SQLite would take for NULL.
static inline int csqlite_bind_text(sqlite3_stmt *statement, int slot, const void *bytes, int count) {
  return sqlite3_bind_text(statement, slot, count ? (const char *)bytes : "", count, SQLITE_TRANSIENT);
}

static inline int csqlite_bind_blob(sqlite3_stmt *statement, int slot, const void *bytes, int count) {
  return sqlite3_bind_blob(statement, slot, count ? bytes : "", count, SQLITE_TRANSIENT);
}

// sqlite3_config is variadic. Only before the library is used for the first time.
static inline int csqlite_keep_no_statistics(void) { return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); }
