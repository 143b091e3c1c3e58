/**
 * Orders about single disks of any member: this node carries out those about its own, and passes others on.
 *
 * Owns: the `disk.order` and `disk.places` calls, their time limits, the form of their answers. Knows nothing of: what an order does.
 * Rule: an answer comes from another machine and is checked by its shape before it is returned; a member that does not answer, or does not
 * know the call, is another answer than a refusal.
 */
import { readName } from './blobs/base/blob-calls.ts'
import type { DiskDrains, SizeOf } from './blobs/disks/disk-drains.ts'
import {
  type BlobName,
  DISK_REFUSALS,
  DISK_STATUSES,
  type DiskOrder,
  type DiskOrdered,
  type DiskPlaces,
  type DiskPlan,
  type Logger,
  type NodeId,
} from './base/types.ts'
import { collectBody } from './transport/collect-body.ts'
import { PeerRefusedError, type PeerCalls } from './transport/transport.ts'

export const DISK_METHODS = { order: 'disk.order', places: 'disk.places' } as const

/** A plan walks over the names of a disk. */
const ORDER_MS_MAX = 20_000
const PLACES_MS_MAX = 10_000
/** Names of one question about places. */
export const PLACES_MAX = 400
const DISKS_MAX = 65

export interface DiskOrdersParts {
  readonly nodeId: NodeId
  readonly transport: PeerCalls
  /** Null: this node has one disk. */
  readonly drains: DiskDrains | null
  readonly sizeOf: SizeOf
  /** The mark of a disk has changed. */
  readonly onMarked: () => void
  readonly logger: Logger
}

export class DiskOrders {
  readonly #parts: DiskOrdersParts

  /** Before the transport's start. */
  constructor(parts: DiskOrdersParts) {
    this.#parts = parts
    const { transport } = parts
    transport.handle(DISK_METHODS.order, async ({ header }) => ({
      header: await this.#own(readOrder(header)),
    }))
    transport.handle(DISK_METHODS.places, async ({ header }) => ({
      header: await this.#ownPlaces(readNames(header)),
    }))
  }

  async order(nodeId: NodeId, order: DiskOrder): Promise<DiskOrdered> {
    if (nodeId === this.#parts.nodeId) return this.#own(order)
    const question = { header: { ...order }, timeoutMs: ORDER_MS_MAX }
    const said = await this.#ask(nodeId, DISK_METHODS.order, question, readOrdered)
    return said ?? { kind: 'refused', why: 'no_answer' }
  }

  /** Null: the member does not answer, or has one disk. At most PLACES_MAX names. */
  async places(nodeId: NodeId, names: readonly BlobName[]): Promise<DiskPlaces | null> {
    if (nodeId === this.#parts.nodeId) return this.#ownPlaces(names)
    const rows = names.map(({ id, birth }) => [id, birth])
    const question = { header: rows, timeoutMs: PLACES_MS_MAX }
    const said = await this.#ask(nodeId, DISK_METHODS.places, question, (header) =>
      header === null ? null : readPlaces(header, names.length),
    )
    return said
  }

  async #own(order: DiskOrder): Promise<DiskOrdered> {
    const { drains, sizeOf, onMarked, logger } = this.#parts
    if (drains === null) return { kind: 'refused', why: 'one_disk' }
    const ordered = await drains.order(order, sizeOf)
    if (ordered.kind === 'done' && !order.isRehearsal) {
      logger.info({ disk: order.diskId, isDraining: order.isDraining }, 'disk of blobs marked by order')
      onMarked()
    }
    return ordered
  }

  #ownPlaces(names: readonly BlobName[]): Promise<DiskPlaces | null> {
    const { drains } = this.#parts
    return drains === null ? Promise.resolve(null) : drains.places(names)
  }

  async #ask<T>(
    nodeId: NodeId,
    method: string,
    question: { readonly header: unknown; readonly timeoutMs: number },
    read: (header: unknown) => T,
  ): Promise<T | null> {
    try {
      const { header, body } = await this.#parts.transport.call(nodeId, method, question)
      await collectBody(body, 0)
      return read(header)
    } catch (err) {
      this.#parts.logger.info({ err, peer: nodeId, method }, 'no answer about disks from this member')
      return null
    }
  }
}

type Fields = Readonly<Record<string, unknown>>

const fieldsOf = (value: unknown): Fields => (typeof value === 'object' && value !== null ? { ...value } : {})
const isCount = (value: unknown): value is number =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0

function readOrder(header: unknown): DiskOrder {
  const { diskId, isDraining, isRehearsal } = fieldsOf(header)
  if (typeof diskId !== 'string' || typeof isDraining !== 'boolean' || typeof isRehearsal !== 'boolean')
    throw new PeerRefusedError('bad_request', 'An order about a disk needs an id and two claims')
  return { diskId, isDraining, isRehearsal }
}

function readNames(header: unknown): readonly BlobName[] {
  if (!Array.isArray(header) || header.length > PLACES_MAX)
    throw new PeerRefusedError('bad_request', `A question about places has at most ${PLACES_MAX} names`)
  return header.map((row: unknown) => {
    const [id, birth] = Array.isArray(row) ? (row as readonly unknown[]) : []
    return readName({ id, birth })
  })
}

function readOrdered(header: unknown): DiskOrdered {
  const { kind, why, plan } = fieldsOf(header)
  const refusal = DISK_REFUSALS.find((one) => one === why)
  if (kind === 'done') return { kind, plan: readPlan(plan) }
  if (kind !== 'refused' || refusal === undefined)
    throw new TypeError('Cannot read the answer about a disk: it is neither done nor refused')
  return { kind, why: refusal, ...(plan === undefined ? {} : { plan: readPlan(plan) }) }
}

function readPlan(value: unknown): DiskPlan {
  const { directory, diskId, status: said, copies, bytes, isComplete, roomBytes } = fieldsOf(value)
  const status = DISK_STATUSES.find((one) => one === said)
  if (typeof directory !== 'string' || typeof diskId !== 'string' || status === undefined)
    throw new TypeError('Cannot read the plan of a disk: directory, id and status are expected')
  if (!isCount(copies) || !isCount(bytes) || !isCount(roomBytes) || typeof isComplete !== 'boolean')
    throw new TypeError('Cannot read the plan of a disk: counts are expected')
  return { directory, diskId, status, copies, bytes, isComplete, roomBytes }
}

function readPlaces(header: unknown, count: number): DiskPlaces {
  const { disks, found } = fieldsOf(header)
  if (!Array.isArray(disks) || disks.length > DISKS_MAX || !Array.isArray(found) || found.length !== count)
    throw new TypeError(
      'Cannot read the places of copies: a list of disks and one place for each name are expected',
    )
  const read = disks.map((disk: unknown) => {
    const { diskId, directory } = fieldsOf(disk)
    if (typeof diskId !== 'string' || typeof directory !== 'string')
      throw new TypeError('Cannot read the places of copies: a disk has an id and a directory')
    return { diskId, directory }
  })
  const places = found.map((at: unknown) => {
    if (at !== null && (!isCount(at) || read[at] === undefined))
      throw new TypeError('Cannot read the places of copies: a place is no disk')
    return at
  })
  return { disks: read, found: places }
}
