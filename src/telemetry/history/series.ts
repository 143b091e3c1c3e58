/**
 * Which figures of a node are kept for charts, in which unit, and how those of several nodes become one.
 *
 * Owns: the list, the same for the last hour in memory and for the weeks in Prometheus. PURE. Rule: names are part of the API and are never given
 * another meaning.
 */

/** The time between two points, which are aligned to multiples of it. */
export const HISTORY_EVERY_MS = 10_000
/** One hour. */
export const HISTORY_POINTS = 360

export const RESULTS = ['Ok', 'Refused', 'Failed'] as const
export type Result = (typeof RESULTS)[number]
export const APIS = ['native', 's3', 'admin'] as const
export type Api = (typeof APIS)[number]

/** Requests a second by API and result, bytes a second, seconds, entries of the log, bytes. */
export const SERIES = [
  'nativeOk',
  'nativeRefused',
  'nativeFailed',
  's3Ok',
  's3Refused',
  's3Failed',
  'adminOk',
  'adminRefused',
  'adminFailed',
  'receivedBytes',
  'sentBytes',
  'answerP50',
  'answerP99',
  'flushP99',
  'commitP99',
  'followerLag',
  'unapplied',
  'diskUsed',
  'diskTotal',
  'eventLoopP99',
  'memory',
  'heap',
] as const
export type SeriesName = (typeof SERIES)[number]

/** Something of each series. */
export type BySeries<T> = Readonly<Record<SeriesName, T>>

export function bySeries<T>(of: (name: SeriesName, row: number) => T): BySeries<T> {
  return Object.fromEntries(SERIES.map((name, row) => [name, of(name, row)] as const)) as BySeries<T>
}

/** One value of each series; NaN: not known, or there was nothing to measure. */
export type Point = BySeries<number>
/** Values of each series, the oldest first. */
export type Values = BySeries<Float64Array>

/** What each series says, for the API documents. */
export const SERIES_MEANING: BySeries<string> = {
  nativeOk: 'Requests a second of the data API with a status below 400',
  nativeRefused: 'The same with 400 to 499',
  nativeFailed: 'The same with 500 and above',
  s3Ok: 'Requests a second of the S3 API with a status below 400',
  s3Refused: 'The same with 400 to 499',
  s3Failed: 'The same with 500 and above',
  adminOk: 'Requests a second of the admin API with a status below 400',
  adminRefused: 'The same with 400 to 499',
  adminFailed: 'The same with 500 and above',
  receivedBytes: 'Bytes a second of request bodies',
  sentBytes: 'Bytes a second of answer bodies',
  answerP50:
    'Median of the seconds from the last byte of a request of data or S3 API to the first byte of its answer',
  answerP99: 'The 99th percentile of the same',
  flushP99: 'Seconds of a flush of the log, 99th percentile',
  commitP99: 'Seconds from the append of an entry until a majority has it, 99th percentile; of the leader',
  followerLag: 'Entries of the log that the slowest follower has not confirmed; of the leader',
  unapplied: 'Committed entries that are not applied yet',
  diskUsed: 'Bytes used of the file systems that hold the blobs',
  diskTotal: 'Bytes of these file systems',
  eventLoopP99: 'Event loop delay in seconds, 99th percentile',
  memory: 'Resident bytes of the process',
  heap: 'Bytes of the JavaScript heap in use',
}
