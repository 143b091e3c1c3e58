/**
 * The repair status of all members: this node asks each of them, and answers each that asks.
 *
 * Owns: the `repair.status` call and its time limit. Knows nothing of: what the figures mean.
 * Rules: an answer comes from another machine and is checked by its shape before it is returned; a member that does not answer costs
 * ASK_MS_MAX and does not affect the answers of the others.
 */
import { isDiskLevel } from './base/disk-level.ts'
import type { Clock } from './base/clock.ts'
import { collectBody } from './transport/collect-body.ts'
import type { PeerCalls } from './transport/transport.ts'
import {
  DISK_DOUBTS,
  DISK_STATUSES,
  type DiskState,
  type Logger,
  type NodeId,
  type NodeRepair,
  type RepairStatus,
} from './base/types.ts'

export const REPAIR_STATUS_METHOD = 'repair.status'
const ASK_MS_MAX = 2_000
/** Less, so that a node whose disk hangs still answers. */
const DISK_MS_MAX = 1_000

export interface RepairStatusesParts {
  readonly nodeId: NodeId
  readonly members: () => readonly NodeId[]
  readonly transport: PeerCalls
  readonly status: () => RepairStatus
  readonly disk: () => Promise<DiskState>
  readonly clock: Clock
  readonly logger: Logger
}

export class RepairStatuses {
  readonly #parts: RepairStatusesParts

  /** Before the transport's start. */
  constructor(parts: RepairStatusesParts) {
    this.#parts = parts
    parts.transport.handle(REPAIR_STATUS_METHOD, async () => ({ header: await this.#own() }))
  }

  all(): Promise<readonly NodeRepair[]> {
    return Promise.all(this.#parts.members().map((nodeId) => this.#ask(nodeId)))
  }

  async #ask(nodeId: NodeId): Promise<NodeRepair> {
    if (nodeId === this.#parts.nodeId) return { nodeId, ...(await this.#own()) }
    try {
      const asked = { header: null, timeoutMs: ASK_MS_MAX }
      const { header, body } = await this.#parts.transport.call(nodeId, REPAIR_STATUS_METHOD, asked)
      await collectBody(body, 0)
      return { nodeId, ...readRepair(header) }
    } catch (err) {
      this.#parts.logger.debug({ err, peer: nodeId }, 'no repair status from this member')
      return { nodeId, status: null, disk: null }
    }
  }

  async #own(): Promise<Omit<NodeRepair, 'nodeId'>> {
    const disk = await this.#disk()
    return { status: this.#parts.status(), disk }
  }

  #disk(): Promise<DiskState | null> {
    const { disk, clock, logger } = this.#parts
    return new Promise((resolve) => {
      const timer = clock.after(DISK_MS_MAX, () => resolve(null))
      void disk()
        .catch((err: unknown) => {
          logger.warn({ err }, 'free space of the disk not known')
          return null
        })
        .then((state) => {
          timer.cancel()
          resolve(state)
        })
    })
  }
}

/** The type of each field of an answer; `number?` may be null as well. */
type Shape = { readonly [name: string]: 'number' | 'number?' | 'boolean' | 'string' | Shape }

const STATUS: Shape = {
  bytesPerSecond: 'number?',
  pending: 'number',
  waitingForDisk: 'number',
  scrub: {
    startedAt: 'number?',
    lastFullAt: 'number?',
    progress: 'number',
    copies: 'number',
    bytes: 'number',
    lost: 'number',
    removed: 'number',
  },
  inventory: { runs: 'number', endedAt: 'number?', isRunning: 'boolean', copies: 'number', lost: 'number' },
  directoriesLost: 'number',
}
const SIZE: Shape = { level: 'string', totalBytes: 'number', freeBytes: 'number' }
const DISK: Shape = { ...SIZE, isSuspect: 'boolean' }
const DISK_PART: Shape = { ...SIZE, directory: 'string', diskId: 'string', status: 'string' }
/** As many as the settings of a node can name. */
const DISK_PARTS_MAX = 65

/** Ignores fields that the shape does not name: a newer node may send more. Throws TypeError when a named field has another type. */
export function readRepair(header: unknown): Omit<NodeRepair, 'nodeId'> {
  const { status, disk } = fieldsOf(header)
  check(status, STATUS, 'status')
  if (disk !== null) check(disk, DISK, 'disk')
  if (disk !== null && !isDiskLevel(fieldsOf(disk)['level']))
    throw new TypeError('Cannot read the repair status: "disk.level" is not a disk level')
  if (disk !== null) checkDisks(fieldsOf(disk)['disks'])
  return { status: status as RepairStatus, disk: disk as DiskState | null }
}

/** Absent: a node with one disk, or of a version before. */
function checkDisks(disks: unknown): void {
  if (disks === undefined) return
  if (!Array.isArray(disks) || disks.length > DISK_PARTS_MAX)
    throw new TypeError(
      `Cannot read the repair status: "disk.disks" is not a list of at most ${DISK_PARTS_MAX}`,
    )
  for (const disk of disks) {
    check(disk, DISK_PART, 'disk.disks')
    const { level, status, doubt } = fieldsOf(disk)
    if (!isDiskLevel(level) || !DISK_STATUSES.some((one) => one === status))
      throw new TypeError('Cannot read the repair status: a disk has an unknown level or status')
    if (doubt !== undefined && !DISK_DOUBTS.some((one) => one === doubt))
      throw new TypeError('Cannot read the repair status: a disk has an unknown doubt')
  }
}

function check(value: unknown, shape: Shape, path: string): void {
  const fields = fieldsOf(value)
  for (const [name, wanted] of Object.entries(shape)) {
    const [field, where] = [fields[name], `${path}.${name}`]
    if (typeof wanted === 'object') check(field, wanted, where)
    else if (!fits(field, wanted))
      throw new TypeError(`Cannot read the repair status: "${where}" is not a ${wanted}`)
  }
}

function fits(field: unknown, wanted: string): boolean {
  if (wanted === 'number?' && field === null) return true
  return wanted.startsWith('number') ? Number.isFinite(field) : typeof field === wanted
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}
