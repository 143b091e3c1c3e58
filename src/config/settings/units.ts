/** The units in which settings state their bounds: milliseconds and bytes. */
export const SECOND = 1000
export const DAY = 86_400 * SECOND
export const MIB = 1024 * 1024
