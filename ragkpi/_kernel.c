/* The reading kernel: bytes of runs and qrels to plain arrays.
 *
 * `ragkpi/plain_kernel.py` does the same in plain Python: read that first. Tests hold the two
 * together. This file is in C only for speed, and independent of measures.
 *
 * Three ideas carry it:
 *  - Most lines differ from the line before only in document, rank and score: the rest is compared,
 *    not parsed.
 *  - The documents of one query go into one small hash table, which finds duplicates. When the
 *    query ends, its judged documents are looked up in that table, not the other way round.
 *  - The rank of a hit is 1 + the number of documents before it, which is counted; a query is
 *    sorted only if it has many hits and ties.
 *
 * Rules: growth is checked; hashes find, bytes decide; no recursion, no globals, no strtod. The GIL
 * is released while text is read from memory that no other thread can change. A call owns its run
 * until it ends. Types are compared by address.
 */
#define Py_LIMITED_API 0x030B0000
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef unsigned char byte;
typedef const byte *Text;

/* The bytes of an id, wherever they are. */
typedef struct {
    Text text;
    size_t length;
} Id;
static const Id NO_ID = {(Text) "", 0};

enum {
    FEWEST_SLOTS = 16,
    PIECE = 1 << 16,           /* bytes of text read at a time */
    PADDING = 8,               /* readable bytes after it */
    FETCHED = 64,              /* names fetched together */
    AHEAD = 16,                /* rows fetched before they are needed */
    SHORTEST_LINE = 12,        /* six words of one byte, each with its separator */
    FEW_JUDGED = 16,           /* judged documents of a query: hits are ranked by counting */
    FEW_TIED = 64,             /* or if no more documents share a score; else all are sorted */
    LOOKED_AT_ROWS = 2000,     /* at the beginning of a run, for doubts */
    LOOKED_AT_QUERIES = 20,
    LOOKED_AT_DOCUMENTS = 10,
    MANY_NAMES = 1 << 20,      /* bytes of ids of a run whose memory is returned to the system */
};
static const long long MOST_HELD = 1LL << 31; /* bytes of ids of one query, or of a held run */

#ifdef __GNUC__
#define FETCH(address) __builtin_prefetch(address)
#else
#define FETCH(address) (void)(address)
#endif

#ifdef __GLIBC__ /* keeps released memory for its thread until asked to return it */
#include <malloc.h>
#define GIVE_BACK() malloc_trim(0)
#else
#define GIVE_BACK() (void)0
#endif

/* ---- Memory ---------------------------------------------------------------------------------- */

/* A growing buffer. Every function that grows one returns 0, or -1 if memory is short. */
typedef struct {
    byte *data;
    size_t size, room;
} Bytes;

static int grow(Bytes *bytes, size_t more)
{
    if (more > SIZE_MAX / 4 - bytes->size)
        return -1;
    size_t needed = bytes->size + more;
    size_t room = needed < 2 * bytes->room ? 2 * bytes->room : needed + 16;
    byte *data = realloc(bytes->data, room);
    if (data == NULL)
        return -1;
    bytes->data = data;
    bytes->room = room;
    return 0;
}

static inline int reserve(Bytes *bytes, size_t more)
{
    return more <= bytes->room - bytes->size && bytes->data != NULL ? 0 : grow(bytes, more);
}

/* Append bytes, or none, so that `data` is not NULL. */
static inline int append(Bytes *bytes, const void *data, size_t size)
{
    if (reserve(bytes, size))
        return -1;
    if (size)
        memcpy(bytes->data + bytes->size, data, size);
    bytes->size += size;
    return 0;
}

static void release(Bytes *bytes)
{
    free(bytes->data);
    *bytes = (Bytes){0};
}

/* Arrays of numbers are Bytes: APPEND(&hits, int64_t, row), COUNT(hits, int64_t), ... */
#define APPEND(bytes, type, ...) append((bytes), &(type){__VA_ARGS__}, sizeof(type))
#define PUSH(bytes, type, value) /* needs room */                                                  \
    (ITEMS(bytes, type)[COUNT(bytes, type)] = (value), (bytes).size += sizeof(type))
#define COUNT(bytes, type) ((bytes).size / sizeof(type))
#define ITEMS(bytes, type) ((type *)(void *)(bytes).data)

/* Concatenated strings, and the end of each. */
typedef struct {
    Bytes text, ends; /* ends: uint64_t */
} Strings;

static size_t count_strings(const Strings *strings) { return COUNT(strings->ends, uint64_t); }

static Id string_at(const Strings *strings, size_t number)
{
    const uint64_t *ends = ITEMS(strings->ends, const uint64_t);
    size_t start = number ? (size_t)ends[number - 1] : 0;
    return (Id){strings->text.data + start, (size_t)ends[number] - start};
}

static int add_string(Strings *strings, Id id)
{
    if (append(&strings->text, id.text, id.length))
        return -1;
    return APPEND(&strings->ends, uint64_t, strings->text.size);
}

/* Keep only the first strings. */
static void cut_strings(Strings *strings, size_t count)
{
    strings->ends.size = count * sizeof(uint64_t);
    strings->text.size = count ? (size_t)ITEMS(strings->ends, const uint64_t)[count - 1] : 0;
}

static void release_strings(Strings *strings)
{
    release(&strings->text);
    release(&strings->ends);
}

/* ---- Identity -------------------------------------------------------------------------------- */

/* This process's secret key for hashing ids: two numbers below 2**60. */
typedef struct {
    uint64_t multiplier, start;
} Key;

/* Multiply modulo the prime 2**61 - 1, up to some multiples of it: the result is below
 * 2**61 + a / 2 if b is below 2**60, so that no sum in `hash_of` reaches 2**64. */
static uint64_t multiply(uint64_t a, uint64_t b)
{
#ifdef __SIZEOF_INT128__
    unsigned __int128 product = (unsigned __int128)a * b;
    uint64_t low = (uint64_t)product, high = (uint64_t)(product >> 64);
#else
    uint64_t a0 = a & UINT32_MAX, a1 = a >> 32, b0 = b & UINT32_MAX, b1 = b >> 32;
    uint64_t middle = a1 * b0 + (a0 * b0 >> 32), other = a0 * b1 + (middle & UINT32_MAX);
    uint64_t low = a * b, high = a1 * b1 + (middle >> 32) + (other >> 32);
#endif
    return (low & ((UINT64_C(1) << 61) - 1)) + (high << 3 | low >> 61);
}

static uint64_t eight_bytes(Text text)
{
    uint64_t word;
    memcpy(&word, text, 8);
    return word;
}

static uint64_t seven_bytes(Text text) { return eight_bytes(text) & UINT64_MAX >> 8; }

/* Hash an id: its bytes, seven at a time, are coefficients of a polynomial in the two numbers of
 * the key. Different ids have different polynomials, since those of pairs and the last, shorter
 * coefficient are marked in their eighth byte, and different polynomials of degree n have the same
 * value for at most n of 2**60 keys. So colliding ids cannot be found without the key, unlike for
 * hashes that mix without a prime. Each step takes 14 bytes, which is 10% faster on long ids than
 * single coefficients. */
static uint64_t hash_of(Id id, Key key)
{
    static const uint64_t MARK = 1;
    uint64_t hash = key.start, word = 0;
    Text text = id.text, end = text + id.length;
    for (; end - text > 14; text += 14)
        hash = multiply(hash + seven_bytes(text), key.multiplier) +
               multiply(seven_bytes(text + 7) | MARK << 56, key.start);
    if (end - text > 7) {
        hash = multiply(hash + seven_bytes(text), key.multiplier);
        text += 7;
    }
    size_t rest = (size_t)(end - text); /* 7 at most: read with the bytes before it, if any */
    if (id.length > 7) {
        memcpy(&word, end - 8, 8);
        word >>= 64 - 8 * rest;
    } else if (rest > 3) {
        uint32_t first, last;
        memcpy(&first, text, 4);
        memcpy(&last, end - 4, 4);
        word = first | (uint64_t)last << 8 * (rest - 4);
    } else {
        for (size_t place = 0; place < rest; place++)
            word |= (uint64_t)text[place] << 8 * place;
    }
    hash = multiply(hash + (word | MARK << 8 * rest), key.multiplier);
    /* The rest is invertible: it spreads neighbours over all bits. */
    hash = (hash ^ hash >> 32) * UINT64_C(0x9E3779B97F4A7C15);
    return hash ^ hash >> 29;
}

static int same(Id a, Id b)
{
    return a.length == b.length && memcmp(a.text, b.text, a.length) == 0;
}

/* An open-addressing table of the numbers of strings. A slot has the upper half of a string's
 * hash, which determines its place, and its number plus one; 0 is empty. */
typedef struct {
    uint64_t *slots;
    size_t size, room; /* powers of two: the slots in use, and all slots */
} Table;

static uint64_t slot_with(uint64_t hash, size_t number)
{
    return (hash >> 32 << 32) | (uint32_t)(number + 1);
}

static size_t number_in(uint64_t slot) { return (uint32_t)slot - 1; }

/* Empty a table, and make room for some entries. */
static int make_table(Table *table, size_t entries)
{
    size_t size = FEWEST_SLOTS;
    while (size < entries + entries / 2)
        size *= 2;
    if (size > table->room) {
        free(table->slots);
        *table = (Table){calloc(size, sizeof(uint64_t)), size, size};
        if (table->slots == NULL)
            *table = (Table){0};
        return table->slots ? 0 : -1;
    }
    table->size = size;
    memset(table->slots, 0, size * sizeof(uint64_t));
    return 0;
}

/* Return the first slot to try for a hash. */
static uint64_t *first_slot(const Table *table, uint64_t hash)
{
    return table->slots + ((size_t)(hash >> 32) & (table->size - 1));
}

/* Return the first slot, perhaps after another, that is empty or has the upper half of a hash. */
static inline uint64_t *probe(const Table *table, const uint64_t *behind, uint64_t hash)
{
    size_t mask = table->size - 1;
    size_t place = (size_t)((behind ? behind + 1 : first_slot(table, hash)) - table->slots) & mask;
    while (table->slots[place] && table->slots[place] >> 32 != hash >> 32)
        place = (place + 1) & mask;
    return table->slots + place;
}

/* Return the slot of a string of `strings`, or the empty slot for it. */
static uint64_t *slot_of(const Table *table, const Strings *strings, Id id, uint64_t hash)
{
    uint64_t *slot = probe(table, NULL, hash);
    while (*slot && !same(id, string_at(strings, number_in(*slot))))
        slot = probe(table, slot, hash);
    return slot;
}

/* Distinct strings, numbered in order of first appearance. */
typedef struct {
    Strings strings;
    Table table;
} Names;

/* Double the room for names. */
static int grow_table(Table *table)
{
    Table larger = {0};
    if (make_table(&larger, table->size))
        return -1;
    for (size_t place = 0; place < table->size; place++) {
        uint64_t hash = table->slots[place], *slot = hash ? probe(&larger, NULL, hash) : NULL;
        while (slot && *slot)
            slot = probe(&larger, slot, hash);
        if (slot)
            *slot = hash;
    }
    free(table->slots);
    *table = larger;
    return 0;
}

/* Return the number of a name, -1 if it is new and was added, -2 if memory is short. */
static int64_t number_name(Names *names, Id name, uint64_t hash)
{
    size_t count = count_strings(&names->strings);
    int is_full = 4 * count >= 3 * names->table.size;
    if (count >= UINT32_MAX - 1 || (is_full && grow_table(&names->table)))
        return -2;
    uint64_t *slot = slot_of(&names->table, &names->strings, name, hash);
    if (*slot)
        return (int64_t)number_in(*slot);
    if (add_string(&names->strings, name))
        return -2;
    *slot = slot_with(hash, count);
    return -1;
}

/* Return the number in the first slot of a hash, 0 if it is empty, without a slow branch. */
static inline size_t likely_number(const Names *names, uint64_t hash)
{
    uint64_t slot = *first_slot(&names->table, hash);
    return slot ? number_in(slot) : 0;
}

/* Return the number of a name, or -1. */
static int64_t find_name(const Names *names, Id name, uint64_t hash)
{
    uint64_t slot = names->table.size ? *slot_of(&names->table, &names->strings, name, hash) : 0;
    return slot ? (int64_t)number_in(slot) : -1;
}

static void release_names(Names *names)
{
    release_strings(&names->strings);
    free(names->table.slots);
    names->table = (Table){0};
}

/* ---- Numbers --------------------------------------------------------------------------------- */

static int is_digit(byte c) { return (byte)(c - '0') < 10; }

/* Return the end of a word, in any case, at the beginning of a text, or the text. */
static Text behind_word(Text text, const char *word)
{
    Text end = text;
    for (; *word; word++, end++)
        if ((*end | 32) != (byte)*word)
            return text;
    return end;
}

/* Add digits to a number, which can wrap; return their end. */
static Text read_digits(Text text, uint64_t *number)
{
    for (; is_digit(*text); text++)
        *number = *number * 10 + (uint64_t)(*text - '0');
    return text;
}

typedef enum { READ, NO_NUMBER, INEXACT } Decimal;

/* Read [+-]?(digits[.digits]|digits.|.digits)([eE][+-]?digits)?|inf|infinity, up to `end`, the
 * first byte after it; PADDING bytes are readable after that.
 *
 * A mantissa up to 2**53 and a power of ten up to 10**22 are doubles, so that one multiplication
 * or division rounds once, correctly. INEXACT means that the text is another kind of number. */
static Decimal read_decimal(Text text, Text *end, double *value)
{
    static const double POWERS[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                    1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                    1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    int negative = *text == '-';
    text += negative || *text == '+';
    uint64_t mantissa = 0;
    int64_t decimals = 0, exponent = 0;
    Text first = text;
    text = read_digits(text, &mantissa);
    int64_t digits = text - first;
    if (*text == '.') {
        Text point = ++text;
        text = read_digits(text, &mantissa);
        decimals = text - point;
        digits += decimals;
    }
    if (digits == 0) {
        Text word = behind_word(first, "inf");
        *value = negative ? -HUGE_VAL : HUGE_VAL;
        *end = behind_word(word, "inity");
        return word == first ? NO_NUMBER : READ;
    }
    if ((*text | 32) == 'e') {
        int minus = *++text == '-';
        text += minus || *text == '+';
        Text power = text;
        for (; is_digit(*text); text++)
            exponent = exponent < INT64_C(1) << 40 ? exponent * 10 + (*text - '0') : exponent;
        if (text == power)
            return NO_NUMBER;
        exponent = minus ? -exponent : exponent;
    }
    *end = text;
    exponent -= decimals;
    if (digits > 18 || mantissa > UINT64_C(1) << 53 || exponent < -22 || exponent > 22)
        return INEXACT;
    double number = (double)mantissa;
    number = exponent < 0 ? number / POWERS[-exponent] : number * POWERS[exponent];
    *value = negative ? -number : number;
    return READ;
}

/* Read a number that `read_decimal` finds INEXACT; the GIL must be held. -1 with a Python error. */
static int read_by_python(Text text, Text end, double *value)
{
    PyObject *bytes = PyBytes_FromStringAndSize((const char *)text, end - text);
    PyObject *number = bytes ? PyFloat_FromString(bytes) : NULL;
    *value = number ? PyFloat_AsDouble(number) : 0;
    Py_XDECREF(bytes);
    Py_XDECREF(number);
    return number ? 0 : -1;
}

/* ---- Documents of queries: judged ones, excluded ones ---------------------------------------- */

typedef struct {
    PyObject_HEAD
    Key key;
    Names queries;
    Bytes starts; /* uint64_t: query q has the documents starts[q] to starts[q + 1] */
    Strings ids;
} Documents;

/* A column of ids from Python: a text, and int64 offsets. */
typedef struct {
    Py_buffer text, start, end;
    size_t count;
} Column;

static void release_column(Column *column)
{
    PyBuffer_Release(&column->text);
    PyBuffer_Release(&column->start);
    PyBuffer_Release(&column->end);
}

/* Return whether a buffer has this many 64-bit numbers, properly aligned. */
static int has_numbers(const Py_buffer *buffer, size_t count)
{
    return (size_t)buffer->len == 8 * count && (count == 0 || (uintptr_t)buffer->buf % 8 == 0);
}

/* Convert (text, start, end); a converter for "O&", called with NULL to release them. */
static int to_column(PyObject *argument, void *address)
{
    Column *column = address;
    if (argument == NULL)
        release_column(column);
    else if (PyArg_Parse(argument, "(y*y*y*)", &column->text, &column->start, &column->end))
        return Py_CLEANUP_SUPPORTED;
    return 0;
}

/* Check that all offsets are inside the text, so that nothing else is ever read. Converting other
 * arguments can run code that changes the offsets, so check after that. */
static int check_column(Column *column)
{
    column->count = (size_t)column->start.len / sizeof(int64_t);
    const int64_t *start = column->start.buf, *end = column->end.buf;
    int wrong = !has_numbers(&column->start, column->count) ||
                !has_numbers(&column->end, column->count);
    for (size_t row = 0; !wrong && row < column->count; row++)
        wrong = start[row] < 0 || end[row] < start[row] || end[row] > column->text.len;
    if (wrong)
        PyErr_SetString(PyExc_ValueError, "places outside of the text");
    return wrong ? -1 : 0;
}

/* Return whether starts cut rows into groups: from 0 to the number of rows. */
static int are_starts(const Py_buffer *starts, size_t groups, size_t rows)
{
    const int64_t *start = starts->buf;
    int good = has_numbers(starts, groups + 1) && start[0] == 0 && start[groups] == (int64_t)rows;
    for (size_t group = 0; good && group < groups; group++)
        good = start[group] <= start[group + 1];
    return good;
}

static Id id_at(const Column *column, size_t row)
{
    const int64_t *start = column->start.buf, *end = column->end.buf;
    return (Id){(Text)column->text.buf + start[row], (size_t)(end[row] - start[row])};
}

/* The objects that the module's functions and types share. */
typedef struct {
    PyTypeObject *documents, *ids;
    PyObject *refused; /* the exception class */
    Key key;
} State;

static void free_object(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

static PyObject *new_object(PyTypeObject *type)
{
    return ((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0);
}

static void documents_dealloc(PyObject *self)
{
    Documents *documents = (Documents *)self;
    release_names(&documents->queries);
    release(&documents->starts);
    release_strings(&documents->ids);
    free_object(self);
}

static PyObject *documents_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"queries", "starts", "ids", NULL};
    PyObject *queries;
    Py_buffer starts;
    Column ids;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O!y*O&", names, &PyList_Type, &queries,
                                     &starts, to_column, &ids))
        return NULL;
    const State *state = PyType_GetModuleState(type);
    Documents *self = state ? (Documents *)new_object(type) : NULL;
    if (self == NULL || check_column(&ids))
        goto failed;
    self->key = state->key;
    Py_ssize_t count = PyList_Size(queries);
    if (ids.count >= UINT32_MAX || !are_starts(&starts, (size_t)count, ids.count)) {
        PyErr_SetString(PyExc_ValueError, "starts do not cut the documents into queries");
        goto failed;
    }
    if (append(&self->starts, starts.buf, (size_t)starts.len))
        goto short_of_memory;
    for (Py_ssize_t query = 0; query < count; query++) {
        char *name;
        Py_ssize_t length;
        if (PyBytes_AsStringAndSize(PyList_GetItem(queries, query), &name, &length))
            goto failed;
        Id id = {(Text)name, (size_t)length};
        int64_t number = number_name(&self->queries, id, hash_of(id, self->key));
        if (number == -2)
            goto short_of_memory;
        if (number >= 0) {
            PyErr_SetString(PyExc_ValueError, "a query twice");
            goto failed;
        }
    }
    for (size_t row = 0; row < ids.count; row++)
        if (add_string(&self->ids, id_at(&ids, row)))
            goto short_of_memory;
    goto done;
short_of_memory:
    PyErr_NoMemory();
failed:
    Py_CLEAR(self);
done:
    PyBuffer_Release(&starts);
    release_column(&ids);
    return (PyObject *)self;
}

static int64_t find_query(const Documents *documents, Id name)
{
    return find_name(&documents->queries, name, hash_of(name, documents->key));
}

/* ---- The distinct documents of a run, for counting ------------------------------------------- */

typedef struct {
    PyObject_HEAD
    Names names;
} Ids;

static void ids_dealloc(PyObject *self)
{
    release_names(&((Ids *)self)->names);
    free_object(self);
}

/* ---- A run ----------------------------------------------------------------------------------- */

/* Retrieved documents, in file order. */
typedef struct {
    Strings ids;
    Bytes score, line; /* double; int64_t */
    Bytes query;       /* uint32_t: its number, the sort key of a held run */
} Rows;

/* A query: its number among the judged ones, or -1, and its size. */
typedef struct {
    int64_t query, num_ret;
} Ranking;

/* The rank of a document, and the first and the last rank with its score. */
typedef struct {
    int64_t own, first, last;
} Ranks;

/* A retrieved judged document, by the number of its judgement. */
typedef struct {
    int64_t judgement;
    Ranks ranks;
} Hit;

typedef enum { FINE, NO_MEMORY, PYTHON_ERROR, REFUSED, OTHER } Status;

typedef struct {
    const char *kind;
    int64_t line, first_line;
    Bytes query, text;
} Problem;

/* See the docstrings of `plain_kernel.Run`. */
typedef struct {
    int fold, drop_identical, keep_best, ascending, distance, name_all, held, count_documents;
    Py_ssize_t depth;
    long long most_held, longest_line;
} Options;

typedef struct {
    PyObject_HEAD
    int busy, ended;   /* during a call; after an error or the end */
    /* options */
    Documents *judged, *excluded;
    State *state;
    Key key;
    Options options;
    /* position in the text */
    Bytes carry;       /* the beginning of an incomplete line */
    int64_t line;      /* number of lines begun */
    Bytes run_id;
    /* the current query */
    Rows rows;
    int64_t current;   /* its number in `seen`; -1 before the first line */
    Id name;           /* its name, in `seen` */
    Table table, excluded_ids; /* of its documents; of its excluded documents */
    Rows gathered;     /* of a held run: the rows of one query */
    /* the results */
    Names seen;        /* the queries in order of first appearance */
    Bytes rankings, hits;        /* Ranking, for each query; Hit */
    Strings named, top;          /* queries with names, and the names */
    Bytes top_size, top_score;   /* int64_t per query; double */
    Names documents;   /* all of them, if they are counted */
    int64_t identical_rows, excluded_rows, rows_before, rows_after;
    /* statistics of the first rankings */
    int64_t looked_at, sampled_queries, rising, ordered, several, flat;
    Bytes sample_query;
    Strings sample;
    /* scratch */
    Bytes places, ranks, hashes;
    Problem problem;
} Run;

static void release_rows(Rows *rows)
{
    release_strings(&rows->ids);
    release(&rows->score);
    release(&rows->line);
    release(&rows->query);
}

static size_t count_rows(const Rows *rows) { return count_strings(&rows->ids); }

/* Keep only the first rows. */
static void cut_rows(Rows *rows, size_t count)
{
    cut_strings(&rows->ids, count);
    rows->score.size = count * sizeof(double);
    rows->line.size = count * sizeof(int64_t);
    rows->query.size = count * sizeof(uint32_t);
}

static Status refuse(Run *run, const char *kind, int64_t line, int64_t first_line, Id text)
{
    Problem *problem = &run->problem;
    problem->kind = kind;
    problem->line = line;
    problem->first_line = first_line;
    problem->query.size = problem->text.size = 0;
    if (append(&problem->query, run->name.text, run->name.length) ||
        append(&problem->text, text.text, text.length))
        return NO_MEMORY;
    return REFUSED;
}

/* Make room for rows with this total length of ids. */
static int reserve_rows(Rows *rows, size_t count, size_t size)
{
    return reserve(&rows->ids.text, size) || reserve(&rows->ids.ends, count * sizeof(uint64_t)) ||
           reserve(&rows->score, count * sizeof(double)) ||
           reserve(&rows->line, count * sizeof(int64_t)) ||
           reserve(&rows->query, count * sizeof(uint32_t));
}

/* Append a row; needs room. */
static inline void push_row(Rows *rows, Id id, double score, int64_t line, int64_t query)
{
    if (id.length)
        memcpy(rows->ids.text.data + rows->ids.text.size, id.text, id.length);
    rows->ids.text.size += id.length;
    PUSH(rows->ids.ends, uint64_t, rows->ids.text.size);
    PUSH(rows->score, double, score);
    PUSH(rows->line, int64_t, line);
    PUSH(rows->query, uint32_t, (uint32_t)query);
}

/* Add a retrieved document to the current query. */
static Status add_row(Run *run, Id id, double score, int64_t line)
{
    Rows *rows = &run->rows;
    if (rows->ids.text.size + id.length > (uint64_t)run->options.most_held ||
        count_rows(rows) >= UINT32_MAX - 1)
        return refuse(run, "too much", line, 0, NO_ID);
    if (reserve_rows(rows, 1, id.length))
        return NO_MEMORY;
    push_row(rows, id, run->options.distance ? -score : score, line, run->current);
    return FINE;
}

/* -- The documents of one query -- */

/* Put the excluded documents of the current query into a table. */
static int find_excluded(Run *run)
{
    const Documents *excluded = run->excluded;
    int64_t query = excluded ? find_query(excluded, run->name) : -1;
    const uint64_t *starts = query >= 0 ? ITEMS(excluded->starts, const uint64_t) + query : NULL;
    if (make_table(&run->excluded_ids, starts ? (size_t)(starts[1] - starts[0]) : 0))
        return -1;
    for (uint64_t row = starts ? starts[0] : 0; starts && row < starts[1]; row++) {
        Id id = string_at(&excluded->ids, (size_t)row);
        uint64_t hash = hash_of(id, run->key);
        *slot_of(&run->excluded_ids, &excluded->ids, id, hash) = slot_with(hash, (size_t)row);
    }
    return 0;
}

/* Return whether a document of the current query is left out. */
static int is_left_out(Run *run, Id id)
{
    int identical = run->options.drop_identical && same(id, run->name);
    int excluded = !identical && run->excluded &&
                   *slot_of(&run->excluded_ids, &run->excluded->ids, id, hash_of(id, run->key));
    run->identical_rows += identical;
    run->excluded_rows += excluded;
    return identical || excluded;
}

/* Add the documents of a query, with their hashes, to the documents of the run. They are scattered
 * in memory, and prefetching halves the time: first the slots by hash, then the ends of the strings
 * by slot, then the strings. */
static int count_documents(Run *run, const Rows *rows)
{
    Names *names = &run->documents;
    const uint64_t *hash = ITEMS(run->hashes, const uint64_t);
    for (size_t row = 0, end, count = COUNT(run->hashes, uint64_t); row < count;) {
        end = row + FETCHED < count ? row + FETCHED : count;
        for (size_t ahead = row; names->table.size && ahead < end; ahead++)
            FETCH(first_slot(&names->table, hash[ahead]));
        for (size_t ahead = row; names->table.size && ahead < end; ahead++)
            FETCH(ITEMS(names->strings.ends, uint64_t) + likely_number(names, hash[ahead]));
        for (size_t ahead = row; names->table.size && ahead < end; ahead++)
            FETCH(string_at(&names->strings, likely_number(names, hash[ahead])).text);
        for (; row < end; row++)
            if (number_name(names, string_at(&rows->ids, row), hash[row]) == -2)
                return -1;
    }
    run->hashes.size = 0;
    return 0;
}

/* Put all documents into the table, except those left out; refuse a repeated one, or keep its best
 * score. */
static Status identify(Run *run, Rows *rows)
{
    size_t count = count_rows(rows), kept = 0;
    if (make_table(&run->table, count) || (run->excluded && find_excluded(run)))
        return NO_MEMORY;
    int filters = run->options.drop_identical || run->excluded;
    double *score = ITEMS(rows->score, double);
    int64_t *line = ITEMS(rows->line, int64_t);
    uint64_t *ends = ITEMS(rows->ids.ends, uint64_t);
    size_t begin = 0, end = 0; /* of the row's id; of the last kept id */
    for (size_t row = 0; row < count; row++) {
        Id id = {rows->ids.text.data + begin, (size_t)ends[row] - begin};
        begin = (size_t)ends[row];
        if (filters && is_left_out(run, id))
            continue;
        run->rows_before++;
        if (run->options.fold >= 0) {
            Text cut = memchr(id.text, run->options.fold, id.length);
            id.length = cut != NULL && cut != id.text ? (size_t)(cut - id.text) : id.length;
        }
        uint64_t hash = hash_of(id, run->key);
        uint64_t *slot = slot_of(&run->table, &rows->ids, id, hash);
        if (*slot && !run->options.keep_best)
            return refuse(run, "again", line[row], line[number_in(*slot)], id);
        if (*slot) {
            double *best = score + number_in(*slot);
            *best = score[row] > *best ? score[row] : *best;
            continue;
        }
        if (end + id.length < begin) { /* close the gap of removed ids */
            memmove(rows->ids.text.data + end, id.text, id.length);
            id.text = rows->ids.text.data + end;
        }
        *slot = slot_with(hash, kept);
        end += id.length;
        ends[kept] = end;
        score[kept] = score[row];
        line[kept++] = line[row];
        if (run->options.count_documents && APPEND(&run->hashes, uint64_t, hash))
            return NO_MEMORY;
    }
    cut_rows(rows, kept);
    run->rows_after += (int64_t)kept;
    return count_documents(run, rows) ? NO_MEMORY : FINE;
}

/* A row with its sort key: score descending, then id descending. */
typedef struct {
    double score;
    Id id;
    size_t row;
} Place;

/* trec_eval's order of equal scores: by descending id, as bytes. For ascending ids, the caller
 * reverses it. */
static int compare_ids(const void *a, const void *b)
{
    Id left = ((const Place *)a)->id, right = ((const Place *)b)->id;
    int order = memcmp(right.text, left.text,
                       left.length < right.length ? left.length : right.length);
    return order ? order : (left.length < right.length) - (left.length > right.length);
}

static int compare_places(const void *a, const void *b)
{
    const Place *left = a, *right = b;
    if (left->score != right->score)
        return left->score < right->score ? 1 : -1;
    return compare_ids(a, b);
}

static Place place_of(const Rows *rows, size_t row)
{
    return (Place){ITEMS(rows->score, const double)[row], string_at(&rows->ids, row), row};
}

/* Return the maximum number of documents that share a score; 0 if not all scores fall. */
static size_t longest_tie(const Rows *rows)
{
    const double *score = ITEMS(rows->score, const double);
    size_t first = 0, longest = 1;
    for (size_t row = 1, count = count_rows(rows); row < count; row++) {
        if (score[row] > score[row - 1])
            return 0;
        first = score[row] < score[row - 1] ? row : first;
        longest = row - first < longest ? longest : row - first + 1;
    }
    return longest;
}

/* Sort the rows of a query, into `run->places`, and rank them, in `run->ranks`. If scores fall,
 * only ties are sorted. */
static int order_rows(Run *run, const Rows *rows)
{
    size_t count = count_rows(rows);
    int sorted = longest_tie(rows) > 0;
    run->places.size = run->ranks.size = 0;
    if (reserve(&run->places, count * sizeof(Place)) || reserve(&run->ranks, count * sizeof(Ranks)))
        return -1;
    Place *places = ITEMS(run->places, Place);
    Ranks *ranks = ITEMS(run->ranks, Ranks);
    run->ranks.size = count * sizeof(Ranks);
    for (size_t row = 0; row < count; row++)
        places[row] = place_of(rows, row);
    if (!sorted)
        qsort(places, count, sizeof(Place), compare_places);
    for (size_t first = 0, last; first < count; first = last) {
        for (last = first + 1; last < count && places[last].score == places[first].score;)
            last++;
        if (sorted && last - first > 1)
            qsort(places + first, last - first, sizeof(Place), compare_ids);
        for (size_t a = first, b = last - 1; run->options.ascending && a < b; a++, b--) {
            Place other = places[a];
            places[a] = places[b];
            places[b] = other;
        }
        for (size_t place = first; place < last; place++)
            ranks[places[place].row] =
                (Ranks){(int64_t)place + 1, (int64_t)first + 1, (int64_t)last};
    }
    return 0;
}

/* Name the first `depth` documents of a query. */
static int name_top(Run *run, const Rows *rows)
{
    size_t size = count_rows(rows);
    size = size < (size_t)run->options.depth ? size : (size_t)run->options.depth;
    if (order_rows(run, rows) || add_string(&run->named, run->name) ||
        APPEND(&run->top_size, int64_t, (int64_t)size))
        return -1;
    const Place *places = ITEMS(run->places, const Place);
    for (size_t place = 0; place < size; place++)
        if (add_string(&run->top, places[place].id) ||
            APPEND(&run->top_score, double, places[place].score))
            return -1;
    return 0;
}

/* -- Ranks of hits -- */

/* Rank a document by counting the documents before it; if scores fall, compare it only with its
 * neighbours of equal score. */
static Ranks count_before(const Run *run, const Rows *rows, size_t row, int falls)
{
    const double *score = ITEMS(rows->score, const double);
    size_t first = falls ? row : 0, last = falls ? row + 1 : count_rows(rows);
    while (falls && first > 0 && score[first - 1] == score[row])
        first--;
    while (falls && last < count_rows(rows) && score[last] == score[row])
        last++;
    Place own = place_of(rows, row);
    int64_t above = (int64_t)first, equal = 0, before = 0;
    for (size_t number = first; number < last; number++) {
        above += score[number] > own.score;
        if (score[number] == own.score) {
            Place other = place_of(rows, number);
            equal++;
            before += number != row && (compare_ids(&other, &own) < 0) != run->options.ascending;
        }
    }
    return (Ranks){above + before + 1, above + 1, above + equal};
}

/* Find the judged documents of a query in its table. */
static int find_hits(Run *run, const Rows *rows, int64_t query)
{
    const uint64_t *starts = ITEMS(run->judged->starts, const uint64_t);
    size_t tie = longest_tie(rows);
    int counts = starts[query + 1] - starts[query] <= FEW_JUDGED || (0 < tie && tie <= FEW_TIED);
    if (!counts && order_rows(run, rows))
        return -1;
    for (uint64_t judgement = starts[query]; judgement < starts[query + 1]; judgement++) {
        Id id = string_at(&run->judged->ids, (size_t)judgement);
        uint64_t slot = *slot_of(&run->table, &rows->ids, id, hash_of(id, run->key));
        if (slot == 0)
            continue;
        Ranks ranks = counts ? count_before(run, rows, number_in(slot), tie > 0)
                             : ITEMS(run->ranks, const Ranks)[number_in(slot)];
        if (APPEND(&run->hits, Hit, (int64_t)judgement, ranks))
            return -1;
    }
    return 0;
}

/* Inspect a ranking at the beginning of a run for signs that all values are wrong. */
static int look_at(Run *run, const Rows *rows, int64_t query)
{
    size_t count = count_rows(rows);
    int64_t before = run->looked_at;
    run->looked_at += (int64_t)count;
    if (before && run->looked_at > LOOKED_AT_ROWS)
        return 0;
    const double *score = ITEMS(rows->score, const double);
    size_t rises = 0, drops = 0;
    for (size_t row = 1; row < count; row++) {
        rises += score[row] > score[row - 1];
        drops += score[row] < score[row - 1];
    }
    run->rising += rises > 1 && drops == 0;
    run->ordered += rises + drops > 1;
    run->several += count > 1;
    run->flat += count > 1 && rises + drops == 0;
    if (query < 0 || run->sampled_queries++ >= LOOKED_AT_QUERIES)
        return 0;
    for (size_t row = 0; row < count && row < LOOKED_AT_DOCUMENTS; row++)
        if (APPEND(&run->sample_query, int64_t, query) ||
            add_string(&run->sample, string_at(&rows->ids, row)))
            return -1;
    return 0;
}

/* Judge the documents of a complete query. */
static Status end_query(Run *run, Rows *rows)
{
    Status status = identify(run, rows);
    if (status != FINE)
        return status;
    int64_t query = find_query(run->judged, run->name);
    int is_named = run->options.depth && (query >= 0 || run->options.name_all);
    if (APPEND(&run->rankings, Ranking, query, (int64_t)count_rows(rows)) ||
        look_at(run, rows, query) || (query >= 0 && find_hits(run, rows, query)) ||
        (is_named && name_top(run, rows)))
        return NO_MEMORY;
    cut_rows(rows, 0);
    return FINE;
}

/* -- From query to query -- */

/* Begin the lines of another query. A run with a query that returns must be held from the start. */
static Status begin_query(Run *run, Id name)
{
    if (run->current >= 0 && !run->options.held) {
        Status status = end_query(run, &run->rows);
        if (status != FINE)
            return status;
    }
    int64_t number = number_name(&run->seen, name, hash_of(name, run->key));
    if (number == -2)
        return NO_MEMORY;
    run->current = number >= 0 ? number : (int64_t)count_strings(&run->seen.strings) - 1;
    run->name = string_at(&run->seen.strings, (size_t)run->current);
    return number >= 0 && !run->options.held ? refuse(run, "scattered", run->line, 0, NO_ID) : FINE;
}

/* Judge the queries of a held run. */
static Status judge_held(Run *run)
{
    const Rows *rows = &run->rows;
    size_t queries = count_strings(&run->seen.strings), count = count_rows(rows);
    const uint32_t *query = ITEMS(rows->query, const uint32_t);
    /* The rows of query q are order[ends[q - 1]] to order[ends[q]], in file order. Prefetching them
     * makes reading shuffled lines 25% faster. */
    uint32_t *ends = calloc(queries + 1, sizeof(uint32_t));
    uint32_t *order = calloc(count + AHEAD, sizeof(uint32_t));
    Status status = ends && order ? FINE : NO_MEMORY;
    for (size_t row = 0; status == FINE && row < count; row++)
        ends[query[row] + 1]++;
    for (size_t number = 0; status == FINE && number < queries; number++)
        ends[number + 1] += ends[number];
    for (size_t row = 0; status == FINE && row < count; row++)
        order[ends[query[row]]++] = (uint32_t)row;
    const double *score = ITEMS(rows->score, const double);
    const int64_t *line = ITEMS(rows->line, const int64_t);
    for (size_t number = 0, place = 0; status == FINE && number < queries; number++) {
        for (; status == FINE && place < ends[number]; place++) {
            size_t row = order[place], later = order[place + AHEAD];
            FETCH(score + later);
            FETCH(line + later);
            FETCH(ITEMS(rows->ids.ends, const uint64_t) + later);
            FETCH(string_at(&rows->ids, order[place + AHEAD / 2]).text);
            Id id = string_at(&rows->ids, row);
            if (reserve_rows(&run->gathered, 1, id.length))
                status = NO_MEMORY;
            else
                push_row(&run->gathered, id, score[row], line[row], (int64_t)number);
        }
        run->current = (int64_t)number;
        run->name = string_at(&run->seen.strings, number);
        if (status == FINE)
            status = end_query(run, &run->gathered);
    }
    free(ends);
    free(order);
    return status;
}

/* ---- Lines ----------------------------------------------------------------------------------- */

/* Whitespace is that of C and of bytes.split: \t \n \v \f \r and the space. */
static const byte WHITE[256] = {
    ['\t'] = 1, ['\n'] = 1, ['\v'] = 1, ['\f'] = 1, ['\r'] = 1, [' '] = 1,
};

static int is_white(byte c) { return WHITE[c]; } /* a look-up is 10% faster than comparisons */

/* Return the end of a word. Each line ends in a newline, so there always is one. */
static Text end_of_word(Text text)
{
    while (!is_white(*text))
        text++;
    return text;
}

/* Return the next nonblank byte: a newline, or the beginning of a word. */
static Text skip_blanks(Text text)
{
    while (*text != '\n' && is_white(*text))
        text++;
    return text;
}

typedef struct {
    Run *run;
    PyThreadState *state; /* of the thread that released the GIL */
    Id head, tail; /* of the line before, if it is in this text: up to its document, from its score */
} Reading;

/* Read a score up to `end`; OTHER if there is none. */
static Status read_score(Reading *reading, Text text, Text *end, double *score)
{
    Decimal decimal = read_decimal(text, end, score);
    if (decimal != INEXACT)
        return decimal == READ ? FINE : OTHER;
    PyEval_RestoreThread(reading->state);
    int failed = read_by_python(text, *end, score);
    reading->state = PyEval_SaveThread();
    return failed ? PYTHON_ERROR : FINE;
}

/* `end_of_word` in a text with PADDING bytes after it: eight bytes at a time, which makes all of
 * reading 10% faster. */
static Text end_of_padded_word(Text text)
{
    for (;; text++) {
        static const uint64_t EACH = UINT64_MAX / 255;
        uint64_t word, low; /* low: 0x80 at the first byte up to the space, 0 before it */
        for (;; text += 8) {
            word = eight_bytes(text);
            low = (word - EACH * (' ' + 1)) & ~word & EACH * 0x80;
            if (low)
                break;
        }
#ifdef __GNUC__
        text += __builtin_ctzll(low) / 8;
#endif
        if (is_white(*text))
            return text;
    }
}

/* Read `query Q0 document rank score run_id`; later words are ignored. Lines end before `end`, with
 * PADDING bytes after it, and `nul` is the first NUL byte from here on. */
static Status read_line(Reading *reading, Text line, Text end, Text nul, Text *next)
{
    Run *run = reading->run;
    run->line++;
    if (run->line == 1 && end - line >= 3 && memcmp(line, "\xef\xbb\xbf", 3) == 0)
        line += 3;
    Text query = skip_blanks(line), query_end = end_of_padded_word(query);
    Id name = {query, (size_t)(query_end - query)};
    int is_data = *query != '\n' && *query != '#';
    Text document = skip_blanks(end_of_padded_word(skip_blanks(query_end)));
    Text document_end = end_of_padded_word(document);
    Text rank = skip_blanks(document_end), score = skip_blanks(end_of_padded_word(rank));
    Text score_end = end_of_padded_word(score);
    Text run_id = skip_blanks(score_end);
    Text newline = memchr(run_id, '\n', (size_t)(end - run_id));
    *next = newline + 1;
    if (nul != NULL && nul < newline)
        return refuse(run, "NUL", run->line, 0, NO_ID);
    if (!is_data)
        return FINE;
    if (run_id == newline) /* the sixth word exists only if all do */
        return refuse(run, "columns", run->line, (int64_t)(run->current < 0),
                      (Id){line, (size_t)(newline - line)});
    if (run->current < 0 || !same(name, run->name)) {
        Status status = begin_query(run, name);
        if (status != FINE)
            return status;
    }
    double value;
    Text stop;
    Status status = read_score(reading, score, &stop, &value);
    if (status == OTHER || (status == FINE && stop != score_end))
        return refuse(run, "score", run->line, 0, (Id){score, (size_t)(score_end - score)});
    if (status != FINE)
        return status;
    double place;
    int is_longer = *skip_blanks(end_of_padded_word(run_id)) != '\n';
    if (is_longer && (read_decimal(rank, &stop, &place) == NO_NUMBER ||
                      stop != end_of_padded_word(rank)))
        return refuse(run, "space", run->line, 0, (Id){line, (size_t)(newline - line)});
    run->run_id.size = 0;
    if (append(&run->run_id, run_id, (size_t)(end_of_padded_word(run_id) - run_id)))
        return NO_MEMORY;
    reading->head = (Id){line, is_longer ? 0 : (size_t)(document - line)};
    reading->tail = (Id){score_end, (size_t)(*next - score_end)};
    return add_row(run, (Id){document, (size_t)(document_end - document)}, value, run->line);
}

/* Return whether a text begins with another; PADDING bytes are readable after both. */
static inline int begins_with(Text text, Id other)
{
    size_t place = 0;
    for (; place + 8 <= other.length; place += 8)
        if (eight_bytes(text + place) != eight_bytes(other.text + place))
            return 0;
    uint64_t difference = eight_bytes(text + place) ^ eight_bytes(other.text + place);
    return place == other.length || difference << (64 - 8 * (other.length - place)) == 0;
}

/* Read the lines that differ from the line before only in document, rank and score: the rest is
 * equal, byte for byte, so only ends of words are searched. Reading takes 30% less time. `text`
 * becomes the first other line. Needs room for the rows of all lines up to `end`, without a NUL. */
static Status read_plain_lines(Reading *reading, Text *text, Text end)
{
    Run *run = reading->run;
    Id head = reading->head, tail = reading->tail;
    Status status = FINE;
    while (head.length < (size_t)(end - *text) && begins_with(*text, head)) {
        Text document = *text + head.length, document_end = end_of_padded_word(document);
        Text rank = document_end + 1;
        if (document == document_end || *document_end == '\n')
            break;
        Text rank_end = end_of_padded_word(rank), score_end;
        double score;
        if (rank == rank_end || *rank_end == '\n')
            break;
        status = read_score(reading, rank_end + 1, &score_end, &score);
        if (status != FINE || tail.length > (size_t)(end - score_end) ||
            !begins_with(score_end, tail))
            break;
        *text = score_end + tail.length;
        push_row(&run->rows, (Id){document, (size_t)(document_end - document)},
                 run->options.distance ? -score : score, ++run->line, run->current);
    }
    return status == OTHER ? FINE : status;
}

/* Read whole lines; the last byte is a newline. */
static Status read_lines(Reading *reading, Text text, Text end)
{
    Rows *rows = &reading->run->rows;
    size_t size = (size_t)(end - text), count = size / SHORTEST_LINE;
    Text nul = memchr(text, 0, size);
    int plain = nul == NULL && count_rows(rows) + count < UINT32_MAX - 1 &&
                rows->ids.text.size + size <= (uint64_t)reading->run->options.most_held;
    Status status = reserve_rows(rows, count, size) ? NO_MEMORY : FINE;
    reading->head = NO_ID;
    while (status == FINE && text < end) {
        status = read_line(reading, text, end, nul, &text);
        if (status == FINE && plain && reading->head.length)
            status = read_plain_lines(reading, &text, end);
    }
    return status;
}

/* Read a block of text, which can begin and end within a line. Pieces of it are copied after the
 * incomplete line: the owner of the block can change it, and a piece is read from a near cache. */
static Status read_block(Reading *reading, Text text, size_t size)
{
    Run *run = reading->run;
    Bytes *carry = &run->carry;
    while (size) {
        size_t piece = size < PIECE ? size : PIECE;
        if (reserve(carry, piece + PADDING) || append(carry, text, piece))
            return NO_MEMORY;
        Text end = carry->data + carry->size, begin = end - piece, last = end;
        while (last > begin && last[-1] != '\n')
            last--;
        if (last > begin) {
            Status status = read_lines(reading, carry->data, last);
            if (status != FINE)
                return status;
            carry->size = (size_t)(end - last);
            memmove(carry->data, last, carry->size);
        }
        text += piece;
        size -= piece;
    }
    if (carry->size <= (uint64_t)run->options.longest_line)
        return FINE;
    return refuse(run, "long line", run->line + 1, 0, NO_ID);
}

/* ---- The type Run ---------------------------------------------------------------------------- */

static PyObject *bytes_of(const Bytes *bytes)
{
    return PyBytes_FromStringAndSize((const char *)bytes->data, (Py_ssize_t)bytes->size);
}

static PyObject *raise(Run *run, Status status)
{
    if (status == NO_MEMORY)
        return PyErr_NoMemory();
    if (status == REFUSED) {
        const Problem *problem = &run->problem;
        PyObject *arguments = Py_BuildValue(
            "sLLNN", problem->kind, (long long)problem->line, (long long)problem->first_line,
            bytes_of(&problem->query), bytes_of(&problem->text));
        if (arguments != NULL)
            PyErr_SetObject(run->state->refused, arguments);
        Py_XDECREF(arguments);
    }
    return NULL;
}

static void run_dealloc(PyObject *self)
{
    Run *run = (Run *)self;
    int is_large = run->top.text.room >= MANY_NAMES;
    Py_XDECREF((PyObject *)run->judged);
    Py_XDECREF((PyObject *)run->excluded);
    release_rows(&run->rows);
    release_rows(&run->gathered);
    release_names(&run->seen);
    release_strings(&run->named);
    release_strings(&run->top);
    release_strings(&run->sample);
    free(run->table.slots);
    free(run->excluded_ids.slots);
    release_names(&run->documents);
    Bytes *all[] = {&run->carry, &run->run_id, &run->rankings, &run->hits, &run->top_size,
                    &run->top_score, &run->sample_query, &run->places, &run->ranks,
                    &run->hashes, &run->problem.query, &run->problem.text};
    for (size_t number = 0; number < sizeof all / sizeof *all; number++)
        release(all[number]);
    if (is_large)
        GIVE_BACK();
    free_object(self);
}

static PyObject *run_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"judged", "excluded", "fold", "drop_identical", "keep_best",
                            "ascending", "distance", "depth", "name_all", "held",
                            "count_documents", "most_held", "longest_line", NULL};
    State *state = PyType_GetModuleState(type);
    PyObject *judged, *excluded = Py_None;
    Options options = {.fold = -1, .most_held = MOST_HELD, .longest_line = 1 << 26};
    if (state == NULL ||
        !PyArg_ParseTupleAndKeywords(
            args, keywords, "O|$OippppnpppLL", names, &judged, &excluded, &options.fold,
            &options.drop_identical, &options.keep_best, &options.ascending, &options.distance,
            &options.depth, &options.name_all, &options.held, &options.count_documents,
            &options.most_held, &options.longest_line))
        return NULL;
    /* There are no subclasses, and an object's own claim about its class does not count. */
    if (Py_TYPE(judged) != state->documents ||
        (excluded != Py_None && Py_TYPE(excluded) != state->documents)) {
        PyErr_SetString(PyExc_TypeError, "judged and excluded are to be Documents");
        return NULL;
    }
    if (options.fold < -1 || options.fold > 255 || options.depth < 0 || options.most_held < 0 ||
        options.most_held > MOST_HELD || options.longest_line < 0) {
        PyErr_SetString(PyExc_ValueError, "fold is to be a byte or -1, most_held 0 to 2**31, "
                                          "depth and longest_line no less than 0");
        return NULL;
    }
    Run *run = (Run *)new_object(type);
    if (run == NULL)
        return NULL;
    Py_INCREF(judged);
    run->judged = (Documents *)judged;
    if (excluded != Py_None) {
        Py_INCREF(excluded);
        run->excluded = (Documents *)excluded;
    }
    run->state = state; /* the type keeps it alive */
    run->key = run->judged->key;
    run->options = options;
    run->current = -1;
    return (PyObject *)run;
}

/* Begin a call: until it ends, refuse other calls, from another thread or from code within this
 * call; refuse reading after an error or the end. */
static int enter(Run *run, int reads)
{
    const char *problem = reads && run->ended ? "the run was refused or is finished"
                          : run->busy         ? "the run is being read"
                                              : NULL;
    if (problem == NULL)
        run->busy = 1;
    else
        PyErr_SetString(PyExc_ValueError, problem);
    return problem == NULL ? 0 : -1;
}

/* End a call; pass on its result. */
static PyObject *leave(Run *run, PyObject *result)
{
    run->busy = 0;
    return result;
}

/* End a call that reads; an error ends the run. */
static PyObject *leave_reading(Run *run, Status status)
{
    run->ended = status != FINE;
    return leave(run, status == FINE ? Py_NewRef(Py_None) : raise(run, status));
}

static PyObject *run_feed(PyObject *self, PyObject *block)
{
    Run *run = (Run *)self;
    Py_buffer text;
    if (PyObject_GetBuffer(block, &text, PyBUF_SIMPLE))
        return NULL;
    if (enter(run, 1)) {
        PyBuffer_Release(&text);
        return NULL;
    }
    Reading reading = {run, PyEval_SaveThread(), NO_ID, NO_ID};
    Status status = read_block(&reading, text.buf, (size_t)text.len);
    PyEval_RestoreThread(reading.state);
    PyBuffer_Release(&text);
    return leave_reading(run, status);
}

/* Add rows from columns. */
static Status add_rows(Run *run, const Column *query, const int64_t *starts,
                       const Column *document, const double *scores, const int64_t *lines)
{
    Status status = FINE;
    for (size_t group = 0; status == FINE && group < query->count; group++) {
        Id name = id_at(query, group);
        int64_t row = starts[group], end = starts[group + 1];
        if (run->current < 0 || !same(name, run->name)) {
            run->line = row < end ? lines[row] : 0;
            status = begin_query(run, name);
        }
        for (; status == FINE && row < end; row++) {
            double score = scores[row];
            if (score != score)
                return refuse(run, "score", lines[row], 0, (Id){(Text) "nan", 3});
            status = add_row(run, id_at(document, (size_t)row), score, lines[row]);
        }
    }
    return status;
}

/* The GIL is held: copying the columns, which other threads can change, would take longer. */
static PyObject *run_add(PyObject *self, PyObject *args)
{
    Run *run = (Run *)self;
    Column query, document;
    Py_buffer starts, score, line;
    PyObject *result = NULL;
    if (!PyArg_ParseTuple(args, "O&y*O&y*y*", to_column, &query, &starts, to_column, &document,
                          &score, &line))
        return NULL;
    int good = check_column(&query) == 0 && check_column(&document) == 0;
    if (good && (!are_starts(&starts, query.count, document.count) ||
                 !has_numbers(&score, document.count) || !has_numbers(&line, document.count)))
        PyErr_SetString(PyExc_ValueError, "starts, scores or lines do not fit the documents");
    else if (good && enter(run, 1) == 0)
        result = leave_reading(run, add_rows(run, &query, starts.buf, &document, score.buf,
                                             line.buf));
    release_column(&query);
    release_column(&document);
    PyBuffer_Release(&starts);
    PyBuffer_Release(&score);
    PyBuffer_Release(&line);
    return result;
}

/* Add {query: {document: score}}; OTHER, with an undefined state, for types other than str and
 * numbers. Code of subclasses, which could change a dictionary, never runs here. */
static Status add_mapping(Run *run, PyObject *mapping)
{
    PyObject *query, *ranking, *document, *score;
    Py_ssize_t query_place = 0, length;
    Status status = PyDict_CheckExact(mapping) ? FINE : OTHER;
    while (status == FINE && PyDict_Next(mapping, &query_place, &query, &ranking)) {
        if (!PyUnicode_CheckExact(query) || !PyDict_CheckExact(ranking))
            return OTHER;
        if (PyDict_Size(ranking) == 0)
            continue;
        const char *text = PyUnicode_AsUTF8AndSize(query, &length);
        if (text == NULL)
            return PYTHON_ERROR;
        run->line = 1;
        status = begin_query(run, (Id){(Text)text, (size_t)length});
        Py_ssize_t place = 0;
        for (int64_t row = 1;
             status == FINE && PyDict_Next(ranking, &place, &document, &score); row++) {
            if (!PyUnicode_CheckExact(document) ||
                !(PyFloat_Check(score) || PyLong_CheckExact(score)))
                return OTHER;
            double value = PyFloat_AsDouble(score);
            if (value != value)
                return OTHER;
            text = PyUnicode_AsUTF8AndSize(document, &length);
            if (text == NULL || (value == -1.0 && PyErr_Occurred()))
                return PYTHON_ERROR;
            status = add_row(run, (Id){(Text)text, (size_t)length}, value, row);
        }
    }
    return status;
}

static PyObject *run_mapping(PyObject *self, PyObject *mapping)
{
    Run *run = (Run *)self;
    if (enter(run, 1))
        return NULL;
    Status status = add_mapping(run, mapping);
    if (status == PYTHON_ERROR && !PyErr_ExceptionMatches(PyExc_MemoryError)) {
        PyErr_Clear(); /* a lone surrogate, or a number beyond doubles */
        status = OTHER;
    }
    run->ended = status != FINE;
    return leave(run, status == FINE || status == OTHER ? PyBool_FromLong(status == FINE)
                                                        : raise(run, status));
}

static PyObject *bytearray_of(const Bytes *bytes)
{
    return PyByteArray_FromStringAndSize((const char *)bytes->data, (Py_ssize_t)bytes->size);
}

static PyObject *list_of(const Strings *strings)
{
    size_t count = count_strings(strings);
    PyObject *list = PyList_New((Py_ssize_t)count);
    for (size_t number = 0; list != NULL && number < count; number++) {
        Id id = string_at(strings, number);
        PyObject *item = PyBytes_FromStringAndSize((const char *)id.text, (Py_ssize_t)id.length);
        if (item == NULL)
            Py_CLEAR(list);
        else
            PyList_SetItem(list, (Py_ssize_t)number, item);
    }
    return list;
}

/* Put a new reference into a dictionary, unless there was an error. */
static void put(PyObject **dictionary, const char *name, PyObject *value)
{
    if (value == NULL || *dictionary == NULL || PyDict_SetItemString(*dictionary, name, value))
        Py_CLEAR(*dictionary);
    Py_XDECREF(value);
}

static PyObject *run_take_names(PyObject *self, PyObject *unused)
{
    Run *run = (Run *)self;
    (void)unused;
    if (enter(run, 0))
        return NULL;
    PyObject *names = PyDict_New();
    put(&names, "queries", list_of(&run->named));
    put(&names, "size", bytearray_of(&run->top_size));
    put(&names, "text", bytearray_of(&run->top.text));
    put(&names, "ends", bytearray_of(&run->top.ends));
    put(&names, "score", bytearray_of(&run->top_score));
    if (names != NULL) {
        cut_strings(&run->named, 0);
        cut_strings(&run->top, 0);
        run->top_size.size = run->top_score.size = 0;
    }
    return leave(run, names);
}

static PyObject *run_run_id(PyObject *self, PyObject *unused)
{
    Run *run = (Run *)self;
    (void)unused;
    return enter(run, 0) ? NULL : leave(run, bytes_of(&run->run_id));
}

static Status finish(Run *run)
{
    Reading reading = {run, PyEval_SaveThread(), NO_ID, NO_ID};
    Status status = FINE;
    if (run->carry.size) { /* the last line has no newline */
        status = reserve(&run->carry, 1 + PADDING) || append(&run->carry, "\n", 1)
                     ? NO_MEMORY
                     : read_lines(&reading, run->carry.data, run->carry.data + run->carry.size);
        run->carry.size = 0;
    }
    if (status == FINE && run->current >= 0)
        status = run->options.held ? judge_held(run) : end_query(run, &run->rows);
    run->current = -1;
    PyEval_RestoreThread(reading.state);
    return status;
}

/* Return the distinct documents of a run. */
static PyObject *take_ids(Run *run)
{
    Ids *ids = (Ids *)new_object(run->state->ids);
    if (ids != NULL) {
        ids->names = run->documents;
        run->documents = (Names){0};
    }
    return (PyObject *)ids;
}

static PyObject *run_finish(PyObject *self, PyObject *unused)
{
    Run *run = (Run *)self;
    (void)unused;
    if (enter(run, 1))
        return NULL;
    run->ended = 1;
    Status status = finish(run);
    if (status != FINE)
        return leave(run, raise(run, status));
    PyObject *results = PyDict_New();
    put(&results, "queries", list_of(&run->seen.strings));
    put(&results, "rankings", bytearray_of(&run->rankings));
    put(&results, "hits", bytearray_of(&run->hits));
    put(&results, "documents", take_ids(run));
    put(&results, "sample_query", bytearray_of(&run->sample_query));
    put(&results, "sample", list_of(&run->sample));
    put(&results, "slopes", Py_BuildValue("LL", (long long)run->rising, (long long)run->ordered));
    put(&results, "flat", Py_BuildValue("LL", (long long)run->flat, (long long)run->several));
    put(&results, "left_out",
        Py_BuildValue("LLLL", (long long)run->identical_rows, (long long)run->excluded_rows,
                      (long long)run->rows_before, (long long)run->rows_after));
    return leave(run, results);
}

/* ---- Columns of a text ----------------------------------------------------------------------- */

typedef struct {
    Text text, stop;              /* of all text; of the line, without a carriage return */
    size_t width;
    int separator;                /* -1 for whitespace */
    Bytes start, end, line, stops, wrong;
} Splitting;

/* Reasons why a line has no columns. */
enum { SHORT_OF_MEMORY = -1, OTHER_QUOTES = -2 };

static int add_cell(Splitting *splitting, int64_t number, Text start, Text end)
{
    if ((size_t)number >= splitting->width)
        return 0;
    return APPEND(&splitting->start, int64_t, start - splitting->text) ||
           APPEND(&splitting->end, int64_t, end - splitting->text);
}

/* Split a line at whitespace; return the number of words. */
static int64_t split_words(Splitting *splitting, Text text)
{
    int64_t count = 0;
    for (Text end; *(text = skip_blanks(text)) != '\n'; text = end) {
        end = end_of_word(text);
        if (add_cell(splitting, count++, text, end))
            return SHORT_OF_MEMORY;
    }
    return count;
}

/* Split a line at a separator. A value can be in quotes; other quotes do not count. */
static int64_t split_values(Splitting *splitting, Text text)
{
    Text stop = splitting->stop;
    int commas = splitting->separator == ',';
    for (int64_t count = 0;; count++) {
        Text end, next;
        if (commas && text < stop && *text == '"') {
            text++;
            end = memchr(text, '"', (size_t)(stop - text));
            next = end ? end + 1 : stop;
            if (end == NULL || (next < stop && *next != ','))
                return OTHER_QUOTES;
        } else {
            end = memchr(text, splitting->separator, (size_t)(stop - text));
            next = end = end ? end : stop;
            if (commas && memchr(text, '"', (size_t)(end - text)))
                return OTHER_QUOTES;
        }
        if (add_cell(splitting, count, text, end))
            return SHORT_OF_MEMORY;
        if (next == stop)
            return count + 1;
        text = next + 1;
    }
}

/* columns(text, first_line, width, separator, extra, comments, tolerant) */
static PyObject *kernel_columns(PyObject *module, PyObject *args)
{
    Py_buffer buffer;
    long long number;
    Py_ssize_t width;
    int separator, extra, comments, tolerant, failed = 0;
    (void)module;
    if (!PyArg_ParseTuple(args, "y*Lnippp", &buffer, &number, &width, &separator, &extra,
                          &comments, &tolerant))
        return NULL;
    PyObject *result = NULL;
    Splitting splitting = {.text = buffer.buf, .width = (size_t)width, .separator = separator};
    Text begin = buffer.buf, end = begin + buffer.len;
    if (width < 1 || separator < -1 || separator > 255 || (buffer.len && end[-1] != '\n')) {
        PyErr_SetString(PyExc_ValueError, "no column, no separator, or no newline at the end");
        goto done;
    }
    for (Text newline; !failed && begin < end; begin = newline + 1, number++) {
        newline = memchr(begin, '\n', (size_t)(end - begin));
        splitting.stop = newline - (newline > begin && newline[-1] == '\r');
        size_t length = (size_t)(splitting.stop - begin), before = splitting.start.size;
        Text first = skip_blanks(begin);
        int has_nul = memchr(begin, 0, (size_t)(newline - begin)) != NULL;
        int is_blank = separator < 0 ? *first == '\n' || *(comments ? first : begin) == '#'
                                     : length == 0;
        if (is_blank && !has_nul)
            continue;
        int64_t count =
            separator < 0 ? split_words(&splitting, begin) : split_values(&splitting, begin);
        int good = count >= width && (extra || count == width) && !has_nul &&
                   (separator < 0 || memchr(begin, '\r', length) == NULL);
        int64_t place[] = {number, begin - splitting.text, splitting.stop - splitting.text};
        if (good) {
            failed = append(&splitting.line, place, sizeof *place) ||
                     append(&splitting.stops, place + 2, sizeof *place);
        } else {
            splitting.start.size = splitting.end.size = before;
            failed = count == SHORT_OF_MEMORY || append(&splitting.wrong, place, sizeof place);
            if (!tolerant)
                break;
        }
    }
    if (failed)
        PyErr_NoMemory();
    else
        result = Py_BuildValue("NNNNN", bytearray_of(&splitting.start),
                               bytearray_of(&splitting.end), bytearray_of(&splitting.line),
                               bytearray_of(&splitting.stops), bytearray_of(&splitting.wrong));
done:
    release(&splitting.start);
    release(&splitting.end);
    release(&splitting.line);
    release(&splitting.stops);
    release(&splitting.wrong);
    PyBuffer_Release(&buffer);
    return result;
}

/* An array of 8 bytes per row, for the caller to fill. */
static void *new_array(PyObject **result, size_t rows)
{
    *result = PyByteArray_FromStringAndSize(NULL, (Py_ssize_t)(rows * 8));
    return *result ? (void *)PyByteArray_AsString(*result) : NULL;
}

/* numbers(column): as Python's float; NaN for other texts. */
static PyObject *kernel_numbers(PyObject *module, PyObject *argument)
{
    static const byte BEHIND[PADDING] = {0};
    Column column;
    Bytes cell = {0};
    PyObject *result = NULL;
    (void)module;
    if (!to_column(argument, &column))
        return NULL;
    double *value = check_column(&column) ? NULL : new_array(&result, column.count);
    int failed = value == NULL;
    for (size_t row = 0; !failed && row < column.count; row++) {
        Id id = id_at(&column, row);
        Text stop;
        for (; id.length && *id.text == ' '; id.text++)
            id.length--;
        while (id.length && id.text[id.length - 1] == ' ')
            id.length--;
        cell.size = 0;
        if ((failed = append(&cell, id.text, id.length) || append(&cell, BEHIND, PADDING)))
            break;
        Decimal decimal = read_decimal(cell.data, &stop, value + row);
        if (decimal == NO_NUMBER || stop != cell.data + id.length)
            value[row] = Py_NAN;
        else if (decimal == INEXACT)
            failed = read_by_python(cell.data, stop, value + row);
    }
    if (failed)
        Py_CLEAR(result);
    if (failed && !PyErr_Occurred())
        PyErr_NoMemory();
    release(&cell);
    release_column(&column);
    return result;
}

/* first_rows(column, group): for each row, the first row of its group with its id. */
static PyObject *kernel_first_rows(PyObject *module, PyObject *args)
{
    Column column;
    Py_buffer groups;
    PyObject *result = NULL;
    Table table = {0};
    Key key = ((const State *)PyModule_GetState(module))->key;
    if (!PyArg_ParseTuple(args, "O&y*", to_column, &column, &groups))
        return NULL;
    const int64_t *group = groups.buf;
    int good = check_column(&column) == 0;
    if (good && (!has_numbers(&groups, column.count) || column.count >= UINT32_MAX))
        PyErr_SetString(PyExc_ValueError, "the groups do not fit the ids");
    else if (good && make_table(&table, column.count))
        PyErr_NoMemory();
    else if (good) {
        int64_t *first = new_array(&result, column.count);
        for (size_t row = 0; first != NULL && row < column.count; row++) {
            Id id = id_at(&column, row);
            size_t before = row - (row > 0);
            if (row && group[row] == group[before] && same(id, id_at(&column, before))) {
                first[row] = first[before]; /* most rows of qrels need no hash */
                continue;
            }
            Id name = {(Text)(group + row), sizeof *group};
            uint64_t hash = hash_of(id, (Key){key.multiplier, hash_of(name, key) >> 4});
            uint64_t *slot = probe(&table, NULL, hash);
            while (*slot && (group[number_in(*slot)] != group[row] ||
                             !same(id, id_at(&column, number_in(*slot)))))
                slot = probe(&table, slot, hash);
            if (*slot == 0)
                *slot = slot_with(hash, row);
            first[row] = (int64_t)number_in(*slot);
        }
    }
    free(table.slots);
    PyBuffer_Release(&groups);
    release_column(&column);
    return result;
}

/* Add an id that is not in the first set. */
static int add_new(const Names *firsts, Names *more, Id id, Key key)
{
    uint64_t hash = hash_of(id, key);
    return find_name(firsts, id, hash) < 0 && number_name(more, id, hash) == -2 ? -1 : 0;
}

/* count_ids(sets, column): the number of distinct ids in sets of finished runs and in a column.
 * Only ids outside the first set are collected. */
static PyObject *kernel_count_ids(PyObject *module, PyObject *args)
{
    const State *state = PyModule_GetState(module);
    Names more = {0}, none = {0}, *firsts = &none;
    Column column;
    PyObject *sets;
    if (!PyArg_ParseTuple(args, "O!O&", &PyTuple_Type, &sets, to_column, &column))
        return NULL;
    int failed = check_column(&column);
    for (Py_ssize_t number = 0; !failed && number < PyTuple_Size(sets); number++) {
        PyObject *set = PyTuple_GetItem(sets, number);
        if (Py_TYPE(set) != state->ids) {
            PyErr_SetString(PyExc_TypeError, "sets of other types");
            failed = -1;
            break;
        }
        Names *names = &((Ids *)set)->names;
        firsts = number ? firsts : names;
        for (size_t row = 0; number && !failed && row < count_strings(&names->strings); row++)
            failed = add_new(firsts, &more, string_at(&names->strings, row), state->key);
    }
    for (size_t row = 0; !failed && row < column.count; row++)
        failed = add_new(firsts, &more, id_at(&column, row), state->key);
    if (failed && !PyErr_Occurred())
        PyErr_NoMemory();
    size_t different = count_strings(&firsts->strings) + count_strings(&more.strings);
    release_names(&more);
    release_column(&column);
    return failed ? NULL : PyLong_FromSize_t(different);
}

/* ---- The module ------------------------------------------------------------------------------ */

static PyMethodDef run_methods[] = {
    {"feed", run_feed, METH_O, NULL},
    {"add", run_add, METH_VARARGS, NULL},
    {"mapping", run_mapping, METH_O, NULL},
    {"take_names", run_take_names, METH_NOARGS, NULL},
    {"run_id", run_run_id, METH_NOARGS, NULL},
    {"finish", run_finish, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};
#define TYPE(type, own_flags, ...)                                                                 \
    {                                                                                              \
        .name = "ragkpi._kernel." #type, .basicsize = sizeof(type),                                \
        .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE | (own_flags),                      \
        .slots = (PyType_Slot[]){__VA_ARGS__, {0, NULL}},                                          \
    }
static PyType_Spec documents_spec =
    TYPE(Documents, 0, {Py_tp_new, documents_new}, {Py_tp_dealloc, documents_dealloc});
static PyType_Spec ids_spec =
    TYPE(Ids, Py_TPFLAGS_DISALLOW_INSTANTIATION, {Py_tp_dealloc, ids_dealloc});
static PyType_Spec run_spec = TYPE(
    Run, 0, {Py_tp_new, run_new}, {Py_tp_dealloc, run_dealloc}, {Py_tp_methods, run_methods});

static PyMethodDef kernel_methods[] = {
    {"columns", kernel_columns, METH_VARARGS, NULL},
    {"numbers", kernel_numbers, METH_O, NULL},
    {"first_rows", kernel_first_rows, METH_VARARGS, NULL},
    {"count_ids", kernel_count_ids, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

/* A key for each process, from Python's own hashes, so that PYTHONHASHSEED fixes it. */
static int take_key(Key *key)
{
    PyObject *texts = Py_BuildValue("ss", "ragkpi: multiplier", "ragkpi: start");
    Py_hash_t multiplier = texts ? PyObject_Hash(PyTuple_GetItem(texts, 0)) : -1;
    Py_hash_t start = texts ? PyObject_Hash(PyTuple_GetItem(texts, 1)) : -1;
    Py_XDECREF(texts);
    *key = (Key){(uint64_t)multiplier >> 4, (uint64_t)start >> 4};
    return multiplier == -1 || start == -1 ? -1 : 0;
}

static int kernel_exec(PyObject *module)
{
    State *state = PyModule_GetState(module);
    state->refused = PyErr_NewException("ragkpi._kernel.RefusedError", PyExc_ValueError, NULL);
    state->documents = (PyTypeObject *)PyType_FromModuleAndSpec(module, &documents_spec, NULL);
    state->ids = (PyTypeObject *)PyType_FromModuleAndSpec(module, &ids_spec, NULL);
    PyObject *run = PyType_FromModuleAndSpec(module, &run_spec, NULL);
    int failed = !state->refused || !state->documents || !state->ids || !run ||
                 take_key(&state->key) ||
                 PyModule_AddObjectRef(module, "RefusedError", state->refused) ||
                 PyModule_AddType(module, state->documents) ||
                 PyModule_AddType(module, state->ids) ||
                 PyModule_AddType(module, (PyTypeObject *)run);
    Py_XDECREF(run);
    return failed ? -1 : 0;
}

static int kernel_traverse(PyObject *module, visitproc visit, void *arg)
{
    State *state = PyModule_GetState(module);
    Py_VISIT(state->documents);
    Py_VISIT(state->ids);
    Py_VISIT(state->refused);
    return 0;
}

static int kernel_clear(PyObject *module)
{
    State *state = PyModule_GetState(module);
    Py_CLEAR(state->documents);
    Py_CLEAR(state->ids);
    Py_CLEAR(state->refused);
    return 0;
}

static PyModuleDef_Slot kernel_slots[] = {{Py_mod_exec, kernel_exec}, {0, NULL}};
static struct PyModuleDef kernel = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "_kernel",
    .m_size = sizeof(State),
    .m_methods = kernel_methods,
    .m_slots = kernel_slots,
    .m_traverse = kernel_traverse,
    .m_clear = kernel_clear,
};

PyMODINIT_FUNC PyInit__kernel(void);

PyMODINIT_FUNC PyInit__kernel(void) { return PyModuleDef_Init(&kernel); }
