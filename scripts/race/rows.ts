/**
 * The rows of the race, in order: what each client does, and what must be stored before.
 *
 * Rule: a row that reads makes its own population when the rows before it left too little.
 */
import { BenchObjects, type StoredObject } from '../bench/objects.ts'
import type { Client, Field } from './field.ts'

const KIB = 1024
const MIB = 1024 * KIB
const LARGE_CLIENTS = 2
const LIST_CLIENTS = 4
const SMALL_STORED_MIN = 2000
const LARGE_STORED_MIN = 4
/** More than one page after every key at which a listing starts. */
const LIST_TAIL = 1200
/** Objects that are there to be deleted, for each second of the row. */
const DELETED_A_SECOND = 2000
const DELETED_MAX = 12_000
/** Of --operations: so many small ones cost as much. */
const SHARE = { small: 1, list: 0.1, large: 0.01 } as const
/** Uploads that may fail while a population is made. */
const REFUSED_MAX = 500
/** Of 20 operations of the mixed row; the others read. */
const MIXED = { puts: 4, deletes: 1, heads: 1, all: 20 } as const

export interface RaceRow {
  readonly id: string
  readonly name: string
  readonly clients: number
  /** Bytes of objects that an operation moves; null: not said. */
  readonly bytes: number | null
  readonly writes: boolean
  readonly operation: (client: Client) => Promise<void>
  readonly prepare: () => Promise<void>
  /** Of the operations that are asked of each row: a large one does fewer. */
  readonly share: number
  readonly isOver?: () => boolean
}

/** Every id, in the order of the rows. */
export const ROW_IDS = [
  'put-1k',
  'put-4k',
  'put-64k',
  'put-4k-1',
  'get-1k',
  'get-4k',
  'get-64k',
  'get-4k-1',
  'head',
  'list',
  'mixed',
  'delete',
  'put-64m',
  'get-64m',
] as const

export interface RowPlan {
  readonly clients: number
  readonly seconds: number
  readonly operations: number | null
  /** Ids. */
  readonly chosen: readonly string[]
  /** Of the objects of one size: above it each upload is followed by a deletion, so that a long run does not fill the disk. Default: no bound. */
  readonly keptBytesMax?: number
}

interface Kind {
  readonly label: string
  readonly clients: number
  readonly storedMin: number
  /** Above it each upload is followed by a deletion. Only the first half of them is read. */
  readonly keptMax: number
  readonly objects: BenchObjects
}

/** The chosen rows that this system has. */
export function rowsOf(field: Field, plan: RowPlan): readonly RaceRow[] {
  const { clients, seconds, operations, chosen, keptBytesMax = Number.POSITIVE_INFINITY } = plan
  const kind = (label: string, name: string, size: number): Kind => ({
    label,
    clients,
    storedMin: SMALL_STORED_MIN,
    keptMax: keptBytesMax / size,
    objects: new BenchObjects(name, size),
  })
  const one = kind('1 KiB', '1k', KIB)
  const four = kind('4 KiB', '4k', 4 * KIB)
  const packed = kind('64 KiB', '64k', 64 * KIB)
  const mixed = kind('4 KiB', 'mixed', 4 * KIB)
  const large: Kind = {
    ...kind('64 MiB', '64m', 64 * MIB),
    clients: LARGE_CLIENTS,
    storedMin: LARGE_STORED_MIN,
  }
  const alone: Kind = { ...four, clients: 1 }
  const rows = [
    putRow(field, one, 'put-1k'),
    putRow(field, four, 'put-4k'),
    putRow(field, packed, 'put-64k'),
    putRow(field, alone, 'put-4k-1'),
    getRow(field, one, 'get-1k'),
    getRow(field, four, 'get-4k'),
    getRow(field, packed, 'get-64k'),
    getRow(field, alone, 'get-4k-1'),
    headRow(field, four),
    listRow(field, four),
    mixedRow(field, mixed),
    deleteRow(
      field,
      one,
      operations === null ? Math.min(DELETED_MAX, seconds * DELETED_A_SECOND) : operations + clients,
    ),
    putRow(field, large, 'put-64m'),
    getRow(field, large, 'get-64m'),
  ]
  const { head, list, objectBytesMax } = field.dialect
  const missing = [...(head === null ? ['head', 'mixed'] : []), ...(list === null ? ['list'] : [])]
  return rows.filter(
    ({ id, bytes }) => chosen.includes(id) && !missing.includes(id) && (bytes ?? 0) <= objectBytesMax,
  )
}

function named(verb: string, { label, clients }: Pick<Kind, 'label' | 'clients'>): string {
  return `${verb} ${label}, ${clients === 1 ? 'one client' : `${clients} clients`}`
}

function putRow(field: Field, kind: Kind, id: string): RaceRow {
  const { clients, objects, keptMax } = kind
  return {
    id,
    name: named('PUT', kind),
    clients,
    bytes: objects.size,
    writes: true,
    operation: async (client) => {
      await field.put(objects, client)
      const last = objects.stored.length > keptMax ? objects.take() : undefined
      if (last !== undefined) await field.delete(objects, last, client)
    },
    prepare: async () => undefined,
    share: objects.size < MIB ? SHARE.small : SHARE.large,
  }
}

function getRow(field: Field, kind: Kind, id: string): RaceRow {
  const { clients, objects, keptMax } = kind
  const next = inTurn(objects, keptMax / 2)
  return {
    id,
    name: named('GET', kind),
    clients,
    bytes: objects.size,
    writes: false,
    operation: (client) => field.get(objects, next(), client),
    prepare: () => store(field, kind),
    share: objects.size < MIB ? SHARE.small : SHARE.large,
  }
}

function headRow(field: Field, kind: Kind): RaceRow {
  const next = inTurn(kind.objects)
  return {
    id: 'head',
    name: named('HEAD', { label: '', clients: kind.clients }).replace(' ,', ','),
    clients: kind.clients,
    bytes: null,
    writes: false,
    operation: (client) => field.head(kind.objects, next(), client),
    prepare: () => store(field, kind),
    share: SHARE.small,
  }
}

function listRow(field: Field, kind: Kind): RaceRow {
  const { objects } = kind
  let turn = 0
  return {
    id: 'list',
    name: named('LIST', { label: '1,000 keys', clients: LIST_CLIENTS }),
    clients: LIST_CLIENTS,
    bytes: null,
    writes: false,
    operation: (client) => {
      const after = objects.stored[(turn++ * 7919) % (objects.stored.length - LIST_TAIL)]
      if (after === undefined) throw new Error('Nothing is stored')
      return field.list(objects, after, client)
    },
    prepare: () => store(field, kind),
    share: SHARE.list,
  }
}

function mixedRow(field: Field, kind: Kind): RaceRow {
  const { clients, objects } = kind
  const next = inTurn(objects, SMALL_STORED_MIN / 2)
  let turn = 0
  return {
    id: 'mixed',
    name: named('mixed 70 GET / 20 PUT / 5 DELETE / 5 HEAD', kind),
    clients,
    bytes: null,
    writes: false,
    // The first of those that are stored are read, the last one is deleted: a read that is under way never meets its deletion.
    operation: (client) => {
      const which = (turn++ * 7) % MIXED.all
      if (which < MIXED.puts) return field.put(objects, client)
      if (which < MIXED.puts + MIXED.heads) return field.head(objects, next(), client)
      const last = which < MIXED.puts + MIXED.heads + MIXED.deletes ? objects.take() : undefined
      return last === undefined ? field.get(objects, next(), client) : field.delete(objects, last, client)
    },
    prepare: () => store(field, kind),
    share: SHARE.small,
  }
}

function deleteRow(field: Field, kind: Kind, storedMin: number): RaceRow {
  const { clients, objects } = kind
  return {
    id: 'delete',
    name: named('DELETE', { label: '', clients }).replace(' ,', ','),
    clients,
    bytes: null,
    writes: false,
    operation: async (client) => {
      const object = objects.take()
      if (object !== undefined) await field.delete(objects, object, client)
    },
    prepare: () => store(field, { ...kind, storedMin }),
    share: SHARE.small,
    isOver: () => objects.stored.length < clients,
  }
}

/** `storedMax`: only so many of the first ones, because objects come and go at the end. */
function inTurn(objects: BenchObjects, storedMax = Number.POSITIVE_INFINITY): () => StoredObject {
  let turn = 0
  return () => {
    const object = objects.stored[turn++ % Math.max(1, Math.min(storedMax, objects.stored.length))]
    if (object === undefined) throw new Error('Nothing is stored')
    return object
  }
}

async function store(field: Field, { objects, storedMin, clients }: Kind): Promise<void> {
  let refused = 0
  const some = async (client: number): Promise<void> => {
    while (objects.stored.length < storedMin) {
      try {
        await field.put(objects, { client, clients })
      } catch (error) {
        // A crowded machine may refuse some; the figures begin later.
        if (++refused > REFUSED_MAX) throw error
      }
    }
  }
  const all = Math.max(clients, Math.min(16, storedMin))
  await Promise.all(Array.from({ length: all }, (_, client) => some(client)))
}
