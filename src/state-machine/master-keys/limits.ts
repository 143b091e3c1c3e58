/**
 * Limits of master keys and of replacing what they sealed.
 */

/** Master keys in the file of a node. */
export const MASTER_KEYS_MAX = 8

/** Sealed secrets that one entry replaces at most. */
export const REWRAP_ITEMS_MAX = 256
