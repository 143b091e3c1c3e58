/**
 * Loaded into a node before everything else, it lets each part of an upload be small: 10,000 parts are no 49 GiB then.
 *
 * Owns: that one bound. Rule: the source is changed as it is read, and a source in which the bound is spelled otherwise ends the process.
 */
import { registerHooks } from 'node:module'

const FILE = '/src/state-machine/objects/limits.ts'
const BOUND = 'PART_BYTES_MIN: number = 5 * MIB'

registerHooks({
  load(url, context, next) {
    const loaded = next(url, context)
    if (!url.endsWith(FILE)) return loaded
    const source = Buffer.from((loaded.source ?? '') as string).toString()
    if (!source.includes(BOUND)) throw new Error(`Cannot find "${BOUND}" in ${url}`)
    return { ...loaded, source: source.replace(BOUND, 'PART_BYTES_MIN: number = 1') }
  },
})
