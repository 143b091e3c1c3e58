/**
 * How far the old generation of the heap grows between two collections of it.
 *
 * Owns: the setting of V8, for all threads of the process. Knows nothing of: limits of memory, which V8 keeps besides.
 * Rule: the setting is a number. V8 chooses one between 1.1 and 4 times what was left, by how fast the last collections were beside
 * the program, and counts buffers in it; on a busy machine it chose so little that it collected seven times as often. [docs/adr/0103-what-a-small-put-costs.md]
 */
import { setFlagsFromString } from 'node:v8'

/** To three times what was left, before the space of young objects. */
const GROWTH_PERCENT = 200

/** For a process that serves: what starts later has the setting from its beginning, what runs has it from its next collection on. */
export function spaceOutCollections(): void {
  setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT}`)
}
