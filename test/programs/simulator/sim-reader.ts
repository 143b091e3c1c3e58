/**
 * The port through which workers read the state, over the rows of a simulated disk.
 *
 * Owns: the way from keys to rows. Rules: each read takes the rows again, because a snapshot may have replaced them; pages and cuts are those of the
 * service, over a stand-in for its database.
 */
import { Condition } from '../../../cluster/base/types.ts'
import type { KeyRange, RowKey } from '../../../src/state-machine/base/row-key.ts'
import type { View } from '../../../src/state-machine/base/view.ts'
import { readPage } from '../../../src/store/reads/row-page.ts'
import type { PageQuery, RowPage, StateReader } from '../../../src/store/reads/state-reader.ts'
import type { OpenState } from '../../../src/store/rows/open-state.ts'
import { viewOf } from './object-rules.ts'
import type { SimRows } from './sim-rows.ts'

interface Walk {
  readonly gte: Buffer
  readonly lt: Buffer
  readonly limit: number
}

export class SimReader implements StateReader {
  readonly #rows: () => SimRows | null

  /** `rows` null: the state is not to be read now. */
  constructor(rows: () => SimRows | null) {
    this.#rows = rows
  }

  get usable(): OpenState | null {
    return null
  }

  get<R extends object>(key: RowKey<R>): R | undefined {
    return viewOf(this.#readable()).get(key)
  }

  cut<T>(read: (view: View) => T): T {
    return read(viewOf(this.#readable()))
  }

  async page<R extends object>(range: KeyRange<R>, query: PageQuery): Promise<RowPage<R>> {
    return readPage(stateOf(this.#readable()), range, query)
  }

  async lease<T>(work: (state: OpenState) => Promise<T>): Promise<T> {
    return work(stateOf(this.#readable()))
  }

  #readable(): SimRows {
    const rows = this.#rows()
    if (rows === null) throw new Condition('leader_not_ready', 'The state is being replaced')
    return rows
  }
}

/** As much of it as readers use. All rows are of this moment: an entry that is applied meanwhile is not seen. */
function stateOf(rows: SimRows): OpenState {
  const sorted = rows
    .sorted()
    .map(([key, value]) => [Buffer.from(key), Buffer.from(value, 'latin1')] as const)
  const values = new Map(sorted.map(([key, value]) => [key.toString('utf8'), value]))
  const db: object = {
    snapshot: () => ({ close: async () => undefined }),
    rowAt: (key: Buffer) => values.get(key.toString('utf8')),
    iterator: ({ gte, lt, limit }: Walk) => found(sorted, { gte, lt, limit }),
  }
  const emptyRanges: object = { has: () => false, found: () => undefined, moment: 0 }
  // Only these members are used.
  return { db, emptyRanges } as OpenState
}

async function* found(sorted: readonly (readonly [Buffer, Buffer])[], { gte, lt, limit }: Walk) {
  yield* sorted
    .filter(([key]) => Buffer.compare(key, gte) >= 0 && Buffer.compare(key, lt) < 0)
    .slice(0, limit)
}
