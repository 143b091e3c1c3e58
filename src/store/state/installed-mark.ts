/**
 * Distinguishes a state that was just installed from one that entries were applied to.
 *
 * Owns: the marker INSTALLED, which names the directory of the state. Knows nothing of: rows, the log.
 * Rule: written before the state becomes the current one, removed before the first batch is applied to it. So a state without the marker
 * that is ahead of the log proves that the log has lost its end.
 */
import { readMarker, removeMarker, writeMarker } from './marker-file.ts'

const INSTALLED = 'INSTALLED'

export function writeInstalled(dir: string, state: string): Promise<void> {
  return writeMarker(dir, INSTALLED, { state })
}

/** A marker that does not verify, or that names another state, counts as absent. */
export async function isJustInstalled(dir: string, state: string): Promise<boolean> {
  const marker = await readMarker(dir, INSTALLED)
  return marker.found === 'marker' && marker.value['state'] === state
}

/** Durable when it resolves. Idempotent. */
export function removeInstalled(dir: string): Promise<void> {
  return removeMarker(dir, INSTALLED)
}
