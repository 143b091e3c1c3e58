/**
 * What is measured, in the order in which it is measured: each GET reads what the PUT before it stored.
 */
import { BenchObjects } from './objects.ts'
import type { Workplace } from './workplace.ts'

const KIB = 1024
const MIB = 1024 * KIB
const LARGE_CLIENTS = 2
const LIST_CLIENTS = 8
/** What a row that reads wants to find; stored for it when the row that writes was left out. */
const SMALL_STORED_MIN = 2000
const LARGE_STORED_MIN = 4
/** More than one page behind every key that a listing starts after. */
const LIST_TAIL = 1200

export interface Row {
  readonly name: string
  readonly clients: number
  /** Of objects, moved by one operation; 0 where that is not the point. */
  readonly bytes: number
  readonly writes: boolean
  readonly operation: (client: number) => Promise<void>
  /** Stores what the operation needs and checks it once in full. */
  readonly prepare: () => Promise<void>
}

interface Kind {
  readonly label: string
  readonly clients: number
  readonly storedMin: number
  readonly objects: BenchObjects
}

export function matrix(
  place: Workplace,
  clients: number,
): { rows: readonly Row[]; objects: readonly BenchObjects[] } {
  const small = { clients, storedMin: SMALL_STORED_MIN }
  const inline = { ...small, label: '1 KiB', objects: new BenchObjects('1k', KIB) }
  const chunked = { ...small, label: '4 KiB', objects: new BenchObjects('4k', 4 * KIB) }
  const packed = { ...small, label: '64 KiB', objects: new BenchObjects('64k', 64 * KIB) }
  const large = {
    label: '64 MiB',
    clients: LARGE_CLIENTS,
    storedMin: LARGE_STORED_MIN,
    objects: new BenchObjects('64m', 64 * MIB),
  }
  const kinds = [inline, chunked, packed, large]
  const rows = kinds.flatMap((kind) => [putRow(place, kind), getRow(place, kind)])
  return {
    rows: [...rows, listRow(place, chunked)],
    objects: kinds.map(({ objects }) => objects),
  }
}

function putRow(place: Workplace, { label, clients, objects }: Kind): Row {
  return {
    name: `PUT ${label}`,
    clients,
    bytes: objects.size,
    writes: true,
    operation: (client) => place.put(objects, client),
    prepare: async () => undefined,
  }
}

/** Through another node than the one that took the upload. */
function getRow(place: Workplace, kind: Kind): Row {
  const { label, clients, objects } = kind
  let turn = 0
  return {
    name: `GET ${label}`,
    clients,
    bytes: objects.size,
    writes: false,
    operation: async (client) => {
      const object = objects.stored[turn++ % objects.stored.length]
      if (object === undefined) throw new Error('Nothing is stored')
      await place.get(objects, object, { client, node: (object.node + 1) % place.nodes })
    },
    prepare: async () => {
      await store(place, kind)
      const [first] = objects.stored
      if (first !== undefined) await place.verify(objects, first, (first.node + 1) % place.nodes)
    },
  }
}

function listRow(place: Workplace, kind: Kind): Row {
  const { objects } = kind
  let turn = 0
  return {
    name: 'LIST 1,000 keys',
    clients: LIST_CLIENTS,
    bytes: 0,
    writes: false,
    operation: async (client) => {
      const after = objects.stored[(turn++ * 7919) % (objects.stored.length - LIST_TAIL)]
      if (after === undefined) throw new Error('Nothing is stored')
      await place.list(objects, after, client)
    },
    prepare: () => store(place, kind),
  }
}

async function store(place: Workplace, { objects, storedMin, clients }: Kind): Promise<void> {
  const storeSome = async (client: number): Promise<void> => {
    while (objects.stored.length < storedMin) await place.put(objects, client)
  }
  await Promise.all(Array.from({ length: clients }, (_, client) => storeSome(client)))
}
