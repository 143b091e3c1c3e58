/**
 * The version of this client, which is that of the release it is part of.
 */
export const VERSION = '0.3.0'
