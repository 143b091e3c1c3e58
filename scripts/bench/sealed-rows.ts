/**
 * `node scripts/bench/sealed-rows.ts [--objects 20000] [--passes 3]`: what sealed rows cost in the state of one node, beside the same state without.
 *
 * Owns: the turns, the times. Rules: processor time of this process, not the time on the wall; both states hold the same rows, and are asked the same in turns, the
 * order turned round with each pass. The log, the network and other nodes are not in it: `npm run race` with two configurations measures whole nodes.
 */
import { parseArgs } from 'node:util'
import { pageOfObjects } from '../../src/store/reads/object-listing.ts'
import { bucketKeys } from '../../src/state-machine/buckets/keys.ts'
import { versionKeys } from '../../src/state-machine/versions/keys.ts'
import { wholeNumber } from '../local/options.ts'
import { OneNode } from './one-node.ts'
import { keyAt, LARGE_BUCKET, putOf } from './listing-rows.ts'
import { median } from './statistics.ts'

const PUTS_PER_ENTRY = 8
const PUTS = 2_000
const READS = 10_000
const PAGES = 40
const PAGE_ROWS = 1_000

const { values } = parseArgs({
  options: { objects: { type: 'string', default: '20000' }, passes: { type: 'string', default: '3' } },
})
const objects = wholeNumber(values.objects, '--objects', { min: 2_000, max: 10_000_000 })
const passes = wholeNumber(values.passes, '--passes', { min: 1, max: 100 })

/** Microseconds of the processor for one of `count`. */
async function timed(count: number, work: () => Promise<void>): Promise<number> {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / count
}

class Side {
  readonly name: string
  readonly figures = new Map<string, number[]>()
  readonly #node: OneNode
  #puts = objects

  constructor(name: string, metadataKey: Uint8Array | null) {
    this.name = name
    this.#node = new OneNode(`sealed-rows-${name}`, metadataKey)
  }

  async open(): Promise<void> {
    await this.#node.open()
    await this.#node.fill(objects)
  }

  async pass(): Promise<void> {
    await this.#measure('PUT applied', PUTS, () => this.#put())
    await this.#measure('row read', READS, () => this.#read())
    await this.#measure('page of 1,000', PAGES, () => this.#list())
  }

  close(): Promise<void> {
    return this.#node.close()
  }

  async #measure(what: string, count: number, work: () => Promise<void>): Promise<void> {
    this.figures.set(what, [...(this.figures.get(what) ?? []), await timed(count, work)])
  }

  async #put(): Promise<void> {
    for (let n = 0; n < PUTS; n += PUTS_PER_ENTRY) {
      const commands = Array.from({ length: PUTS_PER_ENTRY }, () => {
        const at = this.#puts++
        return putOf(at, { bucket: LARGE_BUCKET, key: keyAt((at * 7_919) % (2 * objects)) })
      })
      await this.#node.commit(commands)
    }
  }

  get #bucketId() {
    const bucket = this.#node.reader.get(bucketKeys.bucket('acme', LARGE_BUCKET))
    if (bucket === undefined) throw new Error('the bucket is there')
    return bucket.id
  }

  async #read(): Promise<void> {
    const bucket = this.#bucketId
    for (let n = 0; n < READS; n++)
      this.#node.reader.get(versionKeys.object(bucket, keyAt((n * 104_729) % objects)))
  }

  async #list(): Promise<void> {
    for (let n = 0; n < PAGES; n++) {
      const after = keyAt((n * 104_729) % (objects - PAGE_ROWS))
      await pageOfObjects(this.#node.reader, this.#bucketId, {
        prefix: '',
        delimiter: '',
        limit: PAGE_ROWS,
        after,
      })
    }
  }
}

const sides = [new Side('plain', null), new Side('sealed', Buffer.alloc(32, 'a metadata key'))]
for (const side of sides) await side.open()
// The first pass is thrown away: code is compiled in it.
for (let pass = 0; pass <= passes; pass++) {
  for (const side of pass % 2 === 0 ? sides : sides.toReversed()) {
    await side.pass()
    if (pass === 0) side.figures.clear()
  }
}
const [plain, sealed] = sides as [Side, Side]
for (const [what, figures] of plain.figures) {
  const [without, within] = [median(figures), median(sealed.figures.get(what) ?? [])]
  process.stdout.write(
    `${what}: ${without.toFixed(1)} us plain, ${within.toFixed(1)} us sealed, ${((within / without - 1) * 100).toFixed(0)} % more\n`,
  )
}
for (const side of sides) await side.close()
