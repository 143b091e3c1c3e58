/**
 * Limits of master keys and of replacing sealed secrets.
 */

/** Master keys that the file of a node may have. */
export const MASTER_KEYS_MAX = 8

/** Sealed secrets that one entry replaces at most. */
export const REWRAP_ITEMS_MAX = 256
