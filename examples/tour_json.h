/* Reads fields of the flat JSON texts that kkc gives (kkc_matrix_info, kkc_plan_info, kkc_context_info): enough for
 * an example. A program with a JSON parser at hand uses that instead. */
#ifndef TOUR_JSON_H
#define TOUR_JSON_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The text after a string literal that starts at `at` (a quotation mark). */
static const char *json_skip_string(const char *at) {
  for (++at; *at != '\0' && *at != '"'; ++at)
    if (*at == '\\' && at[1] != '\0') ++at;
  return *at == '"' ? at + 1 : at;
}

/* Next member of the object whose text is at `at` ('{' or after a value): sets key and value, NULL at the end. */
static const char *json_next(const char *at, const char **key, const char **value) {
  int depth = 0;
  while (*at != '\0' && strchr("{, \t\n", *at) != NULL) ++at;
  if (*at != '"') return NULL;
  *key = at + 1;
  at = json_skip_string(at);
  while (*at == ' ' || *at == ':') ++at;
  *value = at;
  while (*at != '\0' && !(depth == 0 && (*at == ',' || *at == '}'))) {
    if (*at == '"') {
      at = json_skip_string(at);
      continue;
    }
    if (*at == '{' || *at == '[') ++depth;
    if (*at == '}' || *at == ']') --depth;
    ++at;
  }
  return at;
}

/* The value of a member of the outermost object, or NULL. */
static const char *json_find(const char *json, const char *name) {
  const size_t length = strlen(name);
  const char *key, *value;
  for (const char *at = json; at != NULL && (at = json_next(at, &key, &value)) != NULL;)
    if (strncmp(key, name, length) == 0 && key[length] == '"') return value;
  return NULL;
}

static double json_number(const char *json, const char *name, double otherwise) {
  const char *value = json_find(json, name);
  if (value == NULL) return otherwise;
  if (strncmp(value, "true", 4) == 0) return 1;
  if (strncmp(value, "false", 5) == 0) return 0;
  return strtod(value, NULL);
}

/* Copies a text without its quotation marks and escapes into buffer; "" when it is missing. */
static const char *json_text(const char *value, char *buffer, size_t size) {
  size_t n = 0;
  if (value != NULL && *value == '"')
    for (++value; *value != '\0' && *value != '"' && n + 1 < size; ++value) {
      if (*value == '\\' && value[1] != '\0') ++value;
      buffer[n++] = *value;
    }
  buffer[n] = '\0';
  return buffer;
}

#endif /* TOUR_JSON_H */
