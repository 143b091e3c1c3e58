/**
 * Keeps the files that this process writes readable only for the user it runs as.
 *
 * Owns: the file mode mask of the process. Rules: LevelDB and other libraries name no mode for their files, so the mask decides it, and
 * it is set before the first file is written. Only commands that download give it back: their files belong to the caller.
 */
const GROUP_AND_OTHERS = 0o077

/** The mask with which the process was started; null: it was not changed. */
let maskOfCaller: number | null = null

/** For the entry point, before anything is written. */
export function keepFilesPrivate(): void {
  maskOfCaller ??= process.umask(GROUP_AND_OTHERS)
}

/** For commands that write nothing but files of the caller. */
export function useMaskOfCaller(): void {
  if (maskOfCaller !== null) process.umask(maskOfCaller)
}
