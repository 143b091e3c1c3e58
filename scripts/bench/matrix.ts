/**
 * The measured operations, in order: each GET reads the objects of the PUT before it.
 */
import { BenchObjects } from './objects.ts'
import type { Workplace } from './workplace.ts'

const KIB = 1024
const MIB = 1024 * KIB
const LARGE_CLIENTS = 2
const LIST_CLIENTS = 8
/** The number of objects that a reading row needs; they are stored first when the writing row was left out. */
const SMALL_STORED_MIN = 2000
const LARGE_STORED_MIN = 4
/** More than one page after every key at which a listing starts. */
const LIST_TAIL = 1200

export interface Row {
  readonly name: string
  readonly clients: number
  /** Bytes of objects that one operation transfers; 0 if they are not measured. */
  readonly bytes: number
  readonly writes: boolean
  readonly operation: (client: number) => Promise<void>
  /** Stores the objects that the operation needs and checks one of each in full. */
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

/** Through another node than that of the upload. */
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
