/**
 * Text that people may read: no control characters, no halves of surrogate pairs.
 *
 * Owns: which characters those are, for parsers and for documents. Rule: both say the same.
 */
export const UNPRINTABLE = /[\p{Cc}\ud800-\udfff]/u
/** For JSON Schema, whose texts are whole characters. */
export const PRINTABLE_PATTERN = '^[^\\u0000-\\u001f\\u007f-\\u009f]*$'
