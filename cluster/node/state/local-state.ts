/**
 * The replicated state on this node: who applies to it, reads it through, gives it to peers and replaces it.
 *
 * Owns: these parts, and what an install or damage means to each of them. Knows nothing of: who leads, proposals, reads.
 * Rule: from the moment that damage is known nobody uses the state, whoever found it; the core keeps its log, its term and its vote,
 * for none of them was ever made of the state.
 */
import type { Entry, Input, LogBase, NodeId, RaftStatus } from '../../raft/types.ts'
import type { CallHandler } from '../../transport/transport.ts'
import type { StateDamagedError } from '../../base/types.ts'
import { Applier, type Completion } from './applier.ts'
import type { ChecksumPoint } from './checksum-points.ts'
import type { NodeLimits } from '../base/limits.ts'
import type { SessionId } from '../base/log-entry.ts'
import { LogKeeper, type LogPin } from '../log/log-keeper.ts'
import { logPins } from '../log/log-pins.ts'
import type { MachineRecord } from '../base/machine-record.ts'
import type { NodeOptions, NodeParts } from '../base/options.ts'
import type { Recovered } from '../log/log-recovery.ts'
import type { Route } from '../base/route.ts'
import { type SnapshotCounts, SnapshotCuts } from './snapshot-cuts.ts'
import { SnapshotPuller } from './snapshot-puller.ts'
import { StateGuard } from './state-guard.ts'
import { StateRebuild } from './state-rebuild.ts'

export interface LocalStateParts extends NodeParts {
  readonly options: NodeOptions
  readonly limits: NodeLimits
  readonly recovered: Recovered
  readonly session: SessionId
  readonly submit: (input: Input) => void
  readonly route: () => Route
  /** Every other member. */
  readonly peers: () => readonly NodeId[]
  /** Hands leadership over if this node leads and somebody can take it. */
  readonly handOver: () => void
  readonly onApplied: (completions: readonly Completion[]) => void
  /** The state has jumped: effects may have come without their replies. */
  readonly onInstalled: () => void
  readonly onFatal: (error: Error) => void
}

export class LocalState {
  readonly #parts: LocalStateParts
  readonly applier: Applier
  readonly guard: StateGuard
  readonly rebuild: StateRebuild
  readonly snapshots: SnapshotCounts = {
    served: 0,
    blocks: 0,
    installed: 0,
    failed: 0,
    fetchedBytes: 0,
    reusedBytes: 0,
  }
  readonly keeper: LogKeeper
  readonly #puller: SnapshotPuller
  readonly #cuts: SnapshotCuts
  #isMute = false

  constructor(parts: LocalStateParts) {
    this.#parts = parts
    const { options, recovered } = parts
    const { restored, record } = recovered
    const { logKeepEntries: keepEntries, logKeepBytes: keepBytes, logPinBytes: pinBytes } = options
    this.keeper = new LogKeeper({ keepEntries, keepBytes, pinBytes }, restored.base)
    this.keeper.onStored(restored.older ?? [], restored.appliedIndex)
    this.keeper.onApplied(restored.entries.filter(({ index }) => index <= restored.appliedIndex))
    this.applier = new Applier({
      ...parts,
      record,
      onApplied: (entries, completions) => this.#onApplied(entries, completions),
      onPoint: (index, checksum) => this.guard.onPoint(index, checksum),
      onDamaged: this.#onDamaged,
    })
    this.#puller = new SnapshotPuller({
      ...parts,
      applier: this.applier,
      counts: this.snapshots,
      onInstalled: (installed) => this.#onInstalled(installed),
    })
    this.#cuts = new SnapshotCuts({
      ...parts,
      boot: options.boot,
      counts: this.snapshots,
      appliedIndex: () => this.applier.appliedIndex,
      onDamaged: this.#onDamaged,
    })
    this.guard = new StateGuard({
      ...parts,
      random: options.random,
      isInstalling: () => this.isInstalling || this.rebuild.isUnderWay,
      onDamaged: this.#onDamaged,
    })
    this.rebuild = this.#makeRebuild()
  }

  get handlers(): ReadonlyMap<string, CallHandler> {
    return new Map([...this.#cuts.handlers, ...this.guard.handlers])
  }

  /** The last is where the state is now; it may be one batch ahead of its index, so only equal sums say something. */
  checksums(): readonly ChecksumPoint[] {
    const now = Buffer.from(this.#parts.stateMachine.checksum()).toString('hex')
    return [...this.guard.points, [this.applier.appliedIndex, now]]
  }

  get isInstalling(): boolean {
    return this.#puller.isPulling
  }

  /** By order of the core. */
  fetch(from: NodeId, atLeast: LogBase): void {
    this.#puller.fetch(from, atLeast)
  }

  /** Who needs the log of this node, and from where. */
  pins(status: RaftStatus, { isFull: isDiskFull }: { readonly isFull: boolean }): readonly LogPin[] {
    const { limits, options } = this.#parts
    const silentTicksMax = Math.ceil(limits.logPinSilentMs / options.heartbeatMs)
    return logPins(status, { silentTicksMax, isDiskFull, cuts: this.#cuts.pins })
  }

  /** From the state machine itself, once for each state: a second time it is the very state that was just installed. */
  onDamaged(damage: StateDamagedError): void {
    if (this.rebuild.isUnderWay) this.#parts.onFatal(damage)
    else this.#onDamaged(damage)
  }

  /** Begins nothing more; damage that is met from now on only gets its mark. */
  mute(): void {
    this.#isMute = true
    this.rebuild.close()
  }

  /** Nothing reads or replaces the state any more when it resolves, but for the batch under way. */
  async close(): Promise<void> {
    await Promise.all([this.#puller.close(), this.#cuts.closeAll(), this.guard.close(), this.rebuild.ended()])
  }

  /** Whoever else meets the damage that is known already says nothing new. */
  readonly #onDamaged = (damage: StateDamagedError): void => {
    // Alone nobody else holds this data: the operator has to bring it back.
    if (this.#isMute || this.#parts.peers().length === 0) this.#parts.onFatal(damage)
    else this.rebuild.begin(damage)
  }

  #makeRebuild(): StateRebuild {
    const parts = this.#parts
    return new StateRebuild({
      ...parts,
      onBegun: () => {
        this.applier.suspend()
        this.guard.forget()
        void this.#cuts.closeAll()
        parts.submit({ type: 'stateLost' })
      },
      pull: (onReplaced) => {
        const { isLeader, leaderId } = parts.route()
        return this.#puller.replace(isLeader ? null : leaderId, onReplaced)
      },
      onReplaced: (record) => this.#onReplaced(record),
      onGivenUp: parts.onFatal,
    })
  }

  #onReplaced(record: MachineRecord): void {
    const { appliedIndex: index, appliedTerm: term, configuration, configurationIndex } = record
    this.#parts.submit({ type: 'stateReplaced', base: { index, term }, configuration, configurationIndex })
    this.#onInstalled(record)
  }

  #onInstalled({ appliedIndex: index, appliedTerm: term }: MachineRecord): void {
    this.keeper.onBase({ index, term })
    this.guard.forget()
    this.#parts.onInstalled()
  }

  #onApplied(entries: readonly Entry[], completions: readonly Completion[]): void {
    this.keeper.onApplied(entries)
    this.#parts.onApplied(completions)
  }
}
