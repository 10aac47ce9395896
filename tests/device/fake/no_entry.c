/* A library with a module's name that is none. */
int kkc_fake_no_entry(void);
int kkc_fake_no_entry(void) { return 0; }
