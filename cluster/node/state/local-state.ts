/**
 * The replicated state on this node: the parts that apply to it, verify it, give it to peers and replace it.
 *
 * Owns: these parts, and what an install or damage means to each of them. Knows nothing of: leadership, proposals, reads.
 * Rule: once damage is known no part uses the state, regardless of which part found it; the core keeps its log, its term and its
 * vote, because none of them was ever derived from the state.
 */
import type { Entry, Input, LogBase, NodeId, RaftStatus } from '../../raft/types.ts'
import type { CallHandler } from '../../transport/transport.ts'
import type { StateDamagedError } from '../../base/types.ts'
import { LatencyHistogram } from '../../base/latency-histogram.ts'
import { Applier, type Completion } from './applier.ts'
import { measuredApply } from './measured-apply.ts'
import type { ChecksumPoint } from './checksum-points.ts'
import type { NodeLimits } from '../base/limits.ts'
import type { ProposalSessionId } from '../base/log-entry.ts'
import { LogKeeper, type LogPin } from '../log/log-keeper.ts'
import { logPins } from '../log/log-pins.ts'
import type { MachineRecord } from '../base/machine-record.ts'
import type { NodeOptions, NodeParts } from '../base/options.ts'
import type { Recovered } from '../log/log-recovery.ts'
import type { LeaderView } from '../base/leader-view.ts'
import { type SnapshotCounts, SnapshotCuts } from './snapshot-cuts.ts'
import { damageIn } from './quarantine.ts'
import { SnapshotPuller } from './snapshot-puller.ts'
import { StateGuard } from './state-guard.ts'
import { StateRebuild } from './state-rebuild.ts'

export interface LocalStateParts extends NodeParts {
  readonly options: NodeOptions
  readonly limits: NodeLimits
  readonly recovered: Recovered
  readonly session: ProposalSessionId
  readonly submit: (input: Input) => void
  readonly leaderView: () => LeaderView
  /** Every other member. */
  readonly peers: () => readonly NodeId[]
  /** Hands leadership over if this node leads and another voter can take it. */
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
  readonly applyTimes = new LatencyHistogram()
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
      stateMachine: measuredApply(parts.stateMachine, parts.clock, {
        times: this.applyTimes,
        entries: parts.entryTimes ?? null,
      }),
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

  /** The last is where the state is now; it may be one batch ahead of its index, so only equal sums are conclusive. */
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

  /** True when everything that is applied now is durable in the state. False: the state is damaged, or the node stops. */
  async checkpoint(): Promise<boolean> {
    try {
      await this.#parts.stateMachine.checkpoint()
      return true
    } catch (error) {
      const damage = damageIn(error)
      if (damage === null) this.#parts.onFatal(error instanceof Error ? error : new Error(String(error)))
      else this.#onDamaged(damage)
      return false
    }
  }

  /** Which nodes need the log of this node, and from where. */
  pins(status: RaftStatus, { isFull: isDiskFull }: { readonly isFull: boolean }): readonly LogPin[] {
    const { limits, options } = this.#parts
    const silentTicksMax = Math.ceil(limits.logPinSilentMs / options.heartbeatMs)
    return logPins(status, { silentTicksMax, isDiskFull, cuts: this.#cuts.pins })
  }

  /** From the state machine itself, once for each state: a second time it is the state that was just installed. */
  onDamaged(damage: StateDamagedError): void {
    if (this.rebuild.isUnderWay) this.#parts.onFatal(damage)
    else this.#onDamaged(damage)
  }

  /** Starts nothing more; damage that is found from now on only gets its mark. */
  mute(): void {
    this.#isMute = true
    this.rebuild.close()
  }

  /** When it resolves nothing reads or replaces the state any more, except the batch under way. */
  async close(): Promise<void> {
    await Promise.all([this.#puller.close(), this.#cuts.closeAll(), this.guard.close(), this.rebuild.ended()])
  }

  /** A further report of damage that is known already changes nothing. */
  readonly #onDamaged = (damage: StateDamagedError): void => {
    // In a group of one no other node holds this data: the operator has to restore it.
    if (this.#isMute || this.#parts.peers().length === 0) this.#parts.onFatal(damage)
    else this.rebuild.begin(damage)
  }

  #makeRebuild(): StateRebuild {
    const parts = this.#parts
    return new StateRebuild({
      ...parts,
      onStarted: () => {
        this.applier.suspend()
        this.guard.forget()
        void this.#cuts.closeAll()
        parts.submit({ type: 'stateLost' })
      },
      pull: (onReplaced) => {
        const { isLeader, leaderId } = parts.leaderView()
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
