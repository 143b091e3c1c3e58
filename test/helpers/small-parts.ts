/**
 * Loaded into a node before everything else, it allows small parts of an upload: 10,000 parts need not be 49 GiB.
 *
 * Owns: that one limit. Rule: the source is changed as it is read; if it spells the limit differently, the process ends.
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
