/** The units in which settings state their bounds: milliseconds and bytes. */
export const SECOND = 1000
export const MINUTE = 60 * SECOND
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR
export const MIB = 1024 * 1024
