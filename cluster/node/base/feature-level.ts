/**
 * What this version knows: the highest level of commands and formats that it can apply.
 *
 * Owns: the number. Knows nothing of: what came with which level. Rule: it rises by one with each command or format that an older
 * version would not understand, and the state's own level follows only when every member knows it.
 */
export const FEATURE_LEVEL = 7

/** Where every group begins: founders of different versions must start equal, so no node starts at the level of its own code. */
export const FIRST_LEVEL = 1
