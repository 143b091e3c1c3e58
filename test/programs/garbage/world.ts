/**
 * The world of the garbage simulator: a log, nodes with disks that have each applied a part of it, gateways that upload.
 *
 * Owns: the state as plain data that can be copied. Knows nothing of: the steps (steps.ts, perform.ts).
 * Rules: only the real apply changes rows; a proposal commits at most once, in any order, or never; a node sees
 * the rows of the entries it has applied and no others.
 */
import assert from 'node:assert/strict'
import type { RowKind, RowTypes } from '../../../src/state-machine/rows.ts'
import type { Row, View } from '../../../src/state-machine/base/view.ts'
import { kindOf, type RowKey } from '../../../src/state-machine/base/row-key.ts'
import { FEATURE_LEVEL } from '../../../cluster/node/base/feature-level.ts'
import type { Command, Reply } from '../../../src/state-machine/commands.ts'
import { apply } from '../../../src/state-machine/state-machine.ts'
import { createTenant, fresh, putChunks, startOperation } from '../../state-machine/map-world.ts'
import { createUpload } from '../../state-machine/upload-commands.ts'
import { timesAt } from '../../helpers/entry-time.ts'

export type Rows = ReadonlyMap<string, Row>

export interface Name {
  readonly id: string
  readonly birth: string
}

export interface Upload {
  readonly content: string
  readonly key: string
  readonly session: string
  /** The first birth it may have: its session's mark stays at or below it. */
  readonly first: number
  /** The birth of the row that was found, or its own. */
  readonly birth: string
  readonly existing: boolean
  acked: readonly number[]
  /** The proposal that it waits for. */
  proposal: number | null
}

export interface Session {
  readonly id: string
  next: number
  retired: boolean
  heldAt: number
}

export interface Gateway {
  sessions: Session[]
  uploads: Upload[]
  /** The session that is being opened, and the proposal. */
  opening: { readonly session: string; readonly proposal: number } | null
  epoch: number
}

/** Makes a copy under its lock: from the start until its end is committed and applied here, or given up. */
export interface CopyJob {
  readonly name: Name
  readonly permit: number
  proposal: number | null
}

/** Removes a copy: seen some time ago, then locked and judged, then unlinked. */
export interface RemovalJob {
  readonly name: Name
  /** The verdict when it was seen, and the verdict under the lock. */
  readonly seen: boolean
  judged: boolean | null
}

export interface Disk {
  applied: number
  /** Copies by `<id>.<birth>`; false: damaged or unreadable. */
  copies: Map<string, boolean>
  /** Names that the sweep of this process watches; it checks no others. */
  fresh: Set<string>
  /** Ends of drop rows that are not applied here yet. */
  ending: { readonly proposal: number; readonly file: string }[]
  copying: CopyJob | null
  removing: RemovalJob | null
  /** The entry up to which this process has to apply before it removes anything; null: it has not requested a barrier yet. */
  barrier: number | null
  gateway: Gateway
}

export interface Proposal {
  readonly id: number
  readonly command: Command
}

export interface Write {
  readonly node: number
  readonly name: Name
}

/** The remaining events, so that a scope is finite. */
export interface Budget {
  uploads: number
  deletes: number
  crashes: number
  /** Crashes after which the rows of a node are those of an earlier entry: its state was damaged, and a peer's is behind. */
  rollbacks: number
  losses: number
  unknowns: number
  moves: number
  cancels: number
  faults: number
  closes: number
  collections: number
  /** Releases of discarded bodies: a lagging gateway may repeat them forever. */
  releases: number
  advances: number
  /** Copies and deletes of one version, completions and ends of the upload. */
  versions: number
}

/** Rules that can be switched off, to prove that the simulator detects it. */
export interface Rules {
  readonly judgesUnderLock: boolean
  readonly locksCopies: boolean
  readonly holdsMark: boolean
  readonly newBirthForTopUp: boolean
  readonly readsBack: boolean
  readonly unknownIsOpen: boolean
  readonly passesBarrier: boolean
  readonly watchesWrites: boolean
  readonly watchesDrops: boolean
  readonly walksAfterCrash: boolean
}

export const ALL_RULES: Rules = {
  judgesUnderLock: true,
  locksCopies: true,
  holdsMark: true,
  newBirthForTopUp: true,
  readsBack: true,
  unknownIsOpen: true,
  passesBarrier: true,
  watchesWrites: true,
  watchesDrops: true,
  walksAfterCrash: true,
}

export interface World {
  readonly rules: Rules
  readonly contents: number
  readonly copiesMin: number
  /** The upload of the key PART_KEY, started before anything else; null: none. */
  uploadId: string | null
  /** Entries that every scope begins with. */
  firstIndex: number
  /** Rows after each entry. */
  states: Rows[]
  /** By proposal: the entry that committed it, and its reply. */
  outcomes: Map<number, { readonly index: number; readonly reply: Reply }>
  nodes: Disk[]
  proposals: Proposal[]
  writes: Write[]
  /** Copies, as `<node>/<file>`, that a fault took and no node has made again. */
  faulted: Set<string>
  nextProposal: number
  readonly budget: Budget
}

export interface Scope {
  readonly nodes: number
  readonly gateways: number
  readonly contents: number
  readonly copiesMin: number
  /** One object exists already, with this many copies on the first nodes, and nothing else is owed. */
  readonly existingCopies: number
  readonly versioning: 'Unversioned' | 'Enabled'
  /** A multipart upload is in progress, and uploads of gateways may become its part. */
  readonly hasUpload: boolean
  readonly budget: Budget
}

/** The only part of the upload. */
export const PART_KEY = 'assembled'

export const NODE_NAMES = ['n0', 'n1', 'n2', 'n3']

export function newWorld(scope: Scope, rules: Rules = ALL_RULES): World {
  const gateway = (): Gateway => ({ sessions: [], uploads: [], opening: null, epoch: 0 })
  const world: World = {
    rules,
    contents: scope.contents,
    copiesMin: scope.copiesMin,
    uploadId: null,
    firstIndex: 0,
    states: [new Map()],
    outcomes: new Map(),
    nodes: Array.from({ length: scope.nodes }, () => ({
      applied: 0,
      copies: new Map(),
      fresh: new Set(),
      ending: [],
      copying: null,
      removing: null,
      barrier: 0,
      gateway: gateway(),
    })),
    proposals: [],
    writes: [],
    faulted: new Set(),
    nextProposal: 0,
    budget: { ...scope.budget },
  }
  for (const command of [
    createTenant('acme'),
    {
      type: 'createBucket',
      tenantId: 'acme',
      name: 'photos',
      bucketsMax: 1,
      versioning: scope.versioning,
      objectLockEnabled: false,
    } as const,
    startOperation('op'),
  ])
    append(world, command)
  if (scope.hasUpload) {
    append(world, createUpload(PART_KEY))
    for (const { uploadId } of rowsIn<'upload'>(latest(world), 'upload')) world.uploadId = uploadId
  }
  if (scope.existingCopies > 0) standObject(world, scope.existingCopies)
  world.firstIndex = world.states.length - 1
  for (const node of world.nodes) node.applied = world.firstIndex
  // A gateway without epochs never opens a session: the scope has fewer gateways than nodes.
  world.nodes.forEach((node, i) => {
    if (i >= scope.gateways) node.gateway.epoch = Infinity
  })
  return world
}

function standObject(world: World, copies: number): void {
  const replicas = NODE_NAMES.slice(0, copies)
  append(world, { type: 'openSession', session: 'early', node: 'early', keep: [] })
  append(world, putChunks('k0', [fresh('c0', { birth: 'early-0', replicas })], copies))
  append(world, { type: 'closeSession', session: 'early' })
  for (let i = 0; i < copies; i++) nodeOf(world, i).copies.set('c0.early-0', true)
}

/** Deep enough that a step in the copy leaves the original alone. */
export function copyWorld(world: World): World {
  return {
    ...world,
    states: [...world.states],
    outcomes: new Map(world.outcomes),
    nodes: world.nodes.map((node) => ({
      ...node,
      copies: new Map(node.copies),
      fresh: new Set(node.fresh),
      ending: [...node.ending],
      copying: node.copying && { ...node.copying },
      removing: node.removing && { ...node.removing },
      gateway: {
        ...node.gateway,
        sessions: node.gateway.sessions.map((session) => ({ ...session })),
        uploads: node.gateway.uploads.map((upload) => ({ ...upload })),
      },
    })),
    proposals: [...world.proposals],
    writes: [...world.writes],
    faulted: new Set(world.faulted),
    budget: { ...world.budget },
  }
}

export function viewOf(rows: Rows): View {
  return { get: <R extends object>(key: RowKey<R>) => rows.get(key) as R | undefined }
}

export function rowsAt(world: World, index: number): Rows {
  const rows = world.states[index]
  assert(rows !== undefined, 'a node has applied only entries of the log')
  return rows
}

export function latest(world: World): Rows {
  return rowsAt(world, world.states.length - 1)
}

/** The rows that a node sees. */
export function seenBy(world: World, node: number): Rows {
  return rowsAt(world, nodeOf(world, node).applied)
}

export function nodeOf(world: World, node: number): Disk {
  const disk = world.nodes[node]
  assert(disk !== undefined, 'the node exists')
  return disk
}

/** The next entry of the log. */
export function append(world: World, command: Command): Reply {
  const before = latest(world)
  const index = world.states.length
  const { writes, reply } = apply(viewOf(before), command, {
    index,
    ...timesAt(index),
    featureLevel: FEATURE_LEVEL,
    ordinal: 0,
  })
  const rows = new Map(before)
  for (const { key, row } of writes) {
    if (row === null) rows.delete(key)
    else rows.set(key, row)
  }
  world.states.push(rows)
  return reply
}

export function propose(world: World, command: Command): number {
  const id = world.nextProposal++
  world.proposals.push({ id, command })
  return id
}

/** The caller never gets an answer. */
export function isLost(world: World, proposal: number): boolean {
  return !world.outcomes.has(proposal) && !world.proposals.some(({ id }) => id === proposal)
}

export function fileOf({ id, birth }: Name): string {
  return `${id}.${birth}`
}

export function nameIn(file: string): Name {
  const dot = file.indexOf('.')
  return { id: file.slice(0, dot), birth: file.slice(dot + 1) }
}

/** Of one kind in the bucket. */
export function* rowsIn<K extends RowKind>(rows: Rows, kind: K): Generator<RowTypes[K]> {
  for (const [key, row] of rows) if (kindOf(key) === kind) yield row as RowTypes[K]
}

export function* rowsOf<K extends RowKind>(rows: Rows, kind: K): Generator<RowTypes[K]> {
  const prefix = `${kind}\u0000`
  for (const [key, row] of rows) if (key.startsWith(prefix)) yield row as RowTypes[K]
}
