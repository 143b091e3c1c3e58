/**
 * Watches every log, vote and commit of a simulated group and reports the first broken promise of Raft.
 *
 * Owns: the knowledge of all nodes over all their processes. Knows nothing of: clients, rows; why something happened.
 * Rule: a message of a node is checked against its disk, never against its memory.
 */
import { crc32c } from '@node-rs/crc32'
import { decodeConfiguration } from '../../../cluster/raft/configuration.ts'
import type { Configuration, Entry, LogBase, Message, NodeId } from '../../../cluster/raft/types.ts'
import type { RaftStatus, TargetConfiguration } from '../../../cluster/raft/types.ts'
import type { WalBatch, WalContent } from '../../../cluster/wal/wal.ts'
import type { LogMirror, MirrorWrite } from './log-mirror.ts'
import { isQuorum, overlap } from './quorums.ts'
import { mix } from './rolling-hash.ts'

export interface CheckedProcess {
  /** The log as the process has it in memory. */
  readonly memory: LogMirror
  readonly hasFailed: boolean
  readonly isStopping: boolean
  status(): RaftStatus | null
}

export interface CheckedHost {
  readonly id: NodeId
  readonly process: CheckedProcess | null
  /** The log as its disk has it. */
  durable: LogMirror
  /** The log that the disk may hold instead after a crash in the middle of a flush. */
  instead: LogMirror | null
  /** The disk was damaged on purpose: its contents are no longer checked. */
  isDamaged: boolean
  /** Logs of disks that this name had before: an acknowledgement of theirs may still be in flight. */
  readonly formerLogs: readonly LogMirror[]
  /** Durable in the state machine. */
  stateIndex: number
}

interface Seen {
  term: number
  commitIndex: number
  appliedIndex: number
  configuration: Configuration
}

const TERMS_MAX = 2 ** 22

export class SimChecks {
  readonly #hosts: ReadonlyMap<NodeId, CheckedHost>
  readonly #violate: (broken: string) => void
  readonly #leaders = new Map<number, NodeId>()
  readonly #votes = new Map<string, NodeId>()
  /** By (index, term), as all below. */
  readonly #chains = new Map<number, number>()
  readonly #configurations = new Map<number, Configuration>()
  /** Chain value and term of each committed index. */
  readonly #committed: { readonly chain: number; readonly term: number }[] = [{ chain: 0, term: 0 }]
  #committedConfiguration: Configuration
  /** Highest index that was known as committed in a term. */
  readonly #commitsOfTerm = new Map<number, number>()
  readonly #seen = new Map<CheckedProcess, Seen>()
  highestTerm = 0
  elections = 0
  configurationChanges = 0
  #committedConfigurationIndex = 0
  /** As texts. */
  readonly #everCommitted = new Set<string>()

  constructor(
    hosts: ReadonlyMap<NodeId, CheckedHost>,
    initial: Configuration,
    violate: (broken: string) => void,
  ) {
    this.#hosts = hosts
    this.#committedConfiguration = initial
    this.committedConfigurations.push({ index: 0, configuration: initial })
    this.#everVoters = new Set(initial.voters)
    this.#violate = violate
  }

  /** Every one that was committed, ascending by index. */
  readonly committedConfigurations: { readonly index: number; readonly configuration: Configuration }[] = []
  /** Names that had a vote in any configuration that was written. */
  readonly #everVoters: Set<NodeId>

  /** The one in force by commitment, and all that were written after it and may be in force by appending. */
  get configurationsInForce(): readonly Configuration[] {
    const later = [...this.#configurations].filter(
      ([place]) => place >= (this.#committedConfigurationIndex + 1) * TERMS_MAX,
    )
    return [this.#committedConfiguration, ...later.map(([, configuration]) => configuration)]
  }

  /** The change to this configuration was acknowledged to a caller. */
  membersChanged(nodeId: NodeId, target: TargetConfiguration): void {
    if (!this.#everCommitted.has(textOf({ ...target, outgoing: [] })))
      this.#broken(`${nodeId} confirms members that were never committed: ${target.voters.join(' ')}`)
  }

  get committedIndex(): number {
    return this.#committed.length - 1
  }

  /** Gives a batch its chain values. Log matching [thesis 3.5]: equal (index, term) means equal logs up to there. */
  chain(host: CheckedHost, memory: LogMirror, { hardState, base, entries }: WalBatch): MirrorWrite {
    const [first] = entries
    const chainedBase = base === null ? null : { ...base, chain: this.#committedChain(host, base) }
    if (first === undefined) return { hardState, base: chainedBase, first: 0, terms: [], chains: [] }
    const term = hardState?.currentTerm ?? memory.currentTerm
    if (this.#leaders.get(term) === host.id && base === null && first.index <= memory.lastIndex)
      this.#broken(`leader ${host.id} of term ${term} overwrites its own log at ${first.index}`)
    const before =
      chainedBase?.index === first.index - 1 ? chainedBase.chain : memory.chainAt(first.index - 1)
    if (before === null) this.#broken(`${host.id} appends ${first.index} after a gap`)
    const chains = this.#chainOf(host, entries, before ?? 0, true)
    return {
      hardState,
      base: chainedBase,
      first: first.index,
      terms: entries.map((entry) => entry.term),
      chains,
    }
  }

  /** A restart must find the log that the disk held, or that of the interrupted flush. */
  opened(
    host: CheckedHost,
    { memory, isRepaired }: { readonly memory: LogMirror; readonly isRepaired: boolean },
    { hardState, base, entries }: WalContent,
  ): void {
    const chainedBase = { ...base, chain: this.#committedChain(host, base) }
    const chains = this.#chainOf(host, entries, chainedBase.chain, false)
    memory.apply({
      hardState,
      base: chainedBase,
      first: base.index + 1,
      terms: entries.map((entry) => entry.term),
      chains,
    })
    const isExpected =
      memory.isSame(host.durable) || (host.instead !== null && memory.isBetween(host.durable, host.instead))
    if (host.isDamaged || isRepaired) this.#repaired(host, memory)
    else if (!isExpected)
      this.#broken(
        `the log of ${host.id} comes back as (${String(memory)}), its disk held (${String(host.durable)}) or (${String(host.instead)})`,
      )
    host.durable = memory.copy()
    host.instead = null
  }

  /** Committed entries of the disk are present again, in the log or in the state. */
  #repaired(host: CheckedHost, memory: LogMirror): void {
    let floor = Math.min(host.durable.lastIndex, this.committedIndex)
    while (floor > 0 && !host.durable.holds(floor, this.#committed[floor]?.chain ?? 0)) floor -= 1
    if (floor <= host.stateIndex) return
    if (memory.lastIndex < floor || !memory.holds(floor, this.#committed[floor]?.chain ?? 0))
      this.#broken(
        `${host.id} is repaired and misses committed entry ${floor} that it held: (${String(memory)})`,
      )
  }

  /** A message leaves a node. */
  leaving(host: CheckedHost, message: Message): void {
    const { durable } = host
    switch (message.type) {
      case 'RequestVoteResponse':
        if (message.granted && !message.preVote) this.#voteLeaves(host, message.term, message.to)
        break
      case 'RequestVote':
        if (message.preVote) break
        this.#voteLeaves(host, message.term, host.id)
        // One that has met the leader of its term meanwhile asks in vain, and may have lost that entry to it.
        if (host.process?.status()?.role === 'candidate' && durable.lastIndex < message.lastLogIndex)
          this.#broken(
            `${host.id} asks for votes in the name of entry ${message.lastLogIndex}, durable is ${durable.lastIndex}`,
          )
        break
      case 'AppendEntries':
        this.#leadsNow(host, message.term)
        if (this.#leaders.get(message.term) !== host.id)
          this.#broken(`${host.id} sends entries in term ${message.term}, which it does not lead`)
        break
      case 'AppendEntriesResponse':
        if (this.#durableTerm(host) < message.term)
          this.#broken(`${host.id} answers in term ${message.term}, durable is ${durable.currentTerm}`)
        if (message.success) this.#ackLeaves(host, message.index, message.term)
        break
      case 'InstallSnapshotResponse':
        this.#ackLeaves(host, message.index, message.term)
        break
      default:
    }
  }

  /** The process reports that it leads, before any message of its leadership leaves it. */
  leads(host: CheckedHost, memory: LogMirror, term: number): void {
    const other = this.#leaders.get(term)
    if (other === host.id) return
    if (other !== undefined) this.#broken(`${other} and ${host.id} both lead term ${term}`)
    this.#leaders.set(term, host.id)
    this.elections += 1
    let floor = 0
    for (const [earlier, index] of this.#commitsOfTerm) if (earlier < term) floor = Math.max(floor, index)
    const chain = this.#committed[floor]?.chain ?? 0
    if (memory.lastIndex < floor || !memory.holds(floor, chain))
      this.#broken(`${host.id} leads term ${term} without committed entry ${floor}`)
  }

  /** After every event that a node had a part in. */
  moved(host: CheckedHost, process: CheckedProcess): void {
    const status = process.status()
    if (status === null) return
    const { term, commitIndex, appliedIndex, role } = status
    let seen = this.#seen.get(process)
    if (seen === undefined) {
      seen = { term: 0, commitIndex: 0, appliedIndex: 0, configuration: status.configuration }
      this.#seen.set(process, seen)
      if (appliedIndex < host.stateIndex)
        this.#broken(
          `${host.id} begins with applied ${appliedIndex}, its state machine held ${host.stateIndex}`,
        )
    }
    if (term < seen.term) this.#broken(`the term of ${host.id} falls from ${seen.term} to ${term}`)
    if (commitIndex < seen.commitIndex) this.#broken(`the commit index of ${host.id} falls to ${commitIndex}`)
    if (appliedIndex < seen.appliedIndex)
      this.#broken(`the applied index of ${host.id} falls to ${appliedIndex}`)
    if (appliedIndex > commitIndex)
      this.#broken(`${host.id} has applied ${appliedIndex}, committed is ${commitIndex}`)
    if (role === 'leader') this.leads(host, process.memory, term)
    if (commitIndex !== seen.commitIndex)
      this.#committing(host, process.memory, { ...status, before: seen.configuration })
    this.highestTerm = Math.max(this.highestTerm, term)
    seen.term = term
    seen.commitIndex = commitIndex
    seen.appliedIndex = appliedIndex
    seen.configuration = status.configuration
  }

  /** The log reaches at least as far as the state that was made of it. */
  applied({ id, durable, stateIndex }: CheckedHost): void {
    if (stateIndex > durable.lastIndex)
      this.#broken(`${id} has applied ${stateIndex}, durable is ${durable.lastIndex}`)
  }

  ended(process: CheckedProcess): void {
    this.#seen.delete(process)
  }

  /** Every two logs in full: equal at one index means equal below, and committed entries are the same everywhere. */
  compareLogs(): void {
    for (const host of this.#hosts.values()) {
      if (host.process === null) continue
      const { memory } = host.process
      const through = Math.min(memory.lastIndex, host.process.status()?.commitIndex ?? 0)
      for (let index = memory.base.index; index <= through; index += 1) {
        if (memory.chainAt(index) !== this.#committed[index]?.chain)
          this.#broken(`${host.id} holds another committed entry ${index} than was committed`)
      }
    }
  }

  /** The first message of a leadership leaves in the very step that began it. */
  #leadsNow(host: CheckedHost, term: number): void {
    const { process } = host
    if (this.#leaders.has(term) || process === null) return
    const status = process.status()
    if (status?.role === 'leader' && status.term === term) this.leads(host, process.memory, term)
  }

  /** `before`: the configuration in force before this event, in which one may have been written after the commit. */
  #committing(
    host: CheckedHost,
    memory: LogMirror,
    { term, commitIndex, configuration, ...status }: RaftStatus & { readonly before: Configuration },
  ): void {
    const before = this.committedIndex
    for (let index = before + 1; index <= commitIndex; index += 1) {
      const [chain, entryTerm] = [memory.chainAt(index), memory.termAt(index)]
      if (chain === null || entryTerm === null) {
        this.#broken(`${host.id} commits ${index}, which no node had committed and its log does not hold`)
        return
      }
      this.#committed.push({ chain, term: entryTerm })
      this.#commitConfiguration(index, entryTerm)
    }
    const committed = this.#committed[commitIndex]
    if (committed === undefined) return
    if (!memory.holds(commitIndex, committed.chain))
      this.#broken(`${host.id} commits another entry ${commitIndex} than was committed`)
    if (commitIndex <= before) return
    this.#commitsOfTerm.set(term, commitIndex)
    const holders = [...this.#hosts.values()].filter((other) => isHolder(other, commitIndex, committed.chain))
    const names = new Set(holders.map(({ id }) => id))
    const inForce = status.configurationIndex > commitIndex ? [status.before, configuration] : [configuration]
    if (!inForce.some((one) => isQuorum(one, names)))
      this.#broken(
        `${host.id} commits ${commitIndex} in term ${term}, which is durable only at ${[...names].join(' ')}`,
      )
    for (const { id, process } of this.#hosts.values()) {
      const status = process?.status() ?? null
      if (process === null || status === null || status.role !== 'leader' || status.term <= term) continue
      if (!process.memory.holds(commitIndex, committed.chain))
        this.#broken(
          `${id} leads term ${status.term} without entry ${commitIndex}, committed in term ${term}`,
        )
    }
  }

  #commitConfiguration(index: number, term: number): void {
    const next = this.#configurations.get(index * TERMS_MAX + term)
    if (next === undefined) return
    this.configurationChanges += 1
    this.#committedConfigurationIndex = index
    this.#everCommitted.add(textOf(next))
    this.committedConfigurations.push({ index, configuration: next })
    if (!overlap(this.#committedConfiguration, next))
      this.#broken(`the configuration at ${index} can decide without the one before it`)
    this.#committedConfiguration = next
  }

  /** A state that is ahead of the log brings its term back with it, however often the start is cut off. */
  #durableTerm({ durable, stateIndex }: CheckedHost): number {
    return Math.max(durable.currentTerm, this.#committed[stateIndex]?.term ?? 0)
  }

  #voteLeaves(host: CheckedHost, term: number, candidate: NodeId): void {
    const { durable } = host
    if (durable.currentTerm !== term || durable.votedFor !== candidate)
      this.#broken(`${host.id} votes for ${candidate} in term ${term}; durable is ${String(durable)}`)
    if (!this.#everVoters.has(host.id)) this.#broken(`${host.id} votes in term ${term} and never had a vote`)
    const vote = `${host.id}/${host.formerLogs.length}/${term}`
    const before = this.#votes.get(vote)
    if (before !== undefined && before !== candidate)
      this.#broken(`${host.id} votes for ${before} and for ${candidate} in term ${term}`)
    this.#votes.set(vote, candidate)
  }

  #ackLeaves(host: CheckedHost, index: number, term: number): void {
    const { durable, id } = host
    if (index <= host.stateIndex) return
    if (index > durable.lastIndex) {
      this.#broken(`${id} acknowledges ${index}, durable is ${durable.lastIndex}`)
      return
    }
    const leader = this.#hosts.get(this.#leaders.get(term) ?? '')?.process
    if (leader === undefined || leader === null || leader.memory.currentTerm !== term) return
    const chain = leader.memory.chainAt(index)
    if (chain !== null && !durable.holds(index, chain))
      this.#broken(`${id} acknowledges ${index} to the leader of term ${term}, but holds another entry there`)
  }

  #chainOf(host: CheckedHost, entries: readonly Entry[], before: number, areNew: boolean): number[] {
    let chain = before
    return entries.map((entry) => {
      const { index, term, kind, data } = entry
      chain = mix(chain ^ mix(term * 4 + kind.length) ^ crc32c(data))
      const place = index * TERMS_MAX + term
      const known = this.#chains.get(place)
      if (known === undefined) {
        if (!areNew) this.#broken(`${host.id} finds entry ${index} of term ${term}, which no node wrote`)
        this.#chains.set(place, chain)
        if (kind === 'configuration') this.#written(place, decodeConfiguration(data))
      } else if (known !== chain)
        this.#broken(`${host.id} holds another entry ${index} of term ${term} than was written`)
      return chain
    })
  }

  #written(place: number, configuration: Configuration): void {
    this.#configurations.set(place, configuration)
    for (const voter of configuration.voters) this.#everVoters.add(voter)
  }

  #committedChain(host: CheckedHost, { index, term }: LogBase): number {
    const committed = this.#committed[index]
    if (committed === undefined || committed.term !== term)
      this.#broken(`the log of ${host.id} begins after ${index}@${term}, which was never committed`)
    return committed?.chain ?? 0
  }

  #broken(what: string): void {
    this.#violate(what)
  }
}

function isHolder({ durable, formerLogs, stateIndex }: CheckedHost, index: number, chain: number): boolean {
  return (
    stateIndex >= index ||
    (durable.lastIndex >= index && durable.holds(index, chain)) ||
    formerLogs.some((log) => log.lastIndex >= index && log.holds(index, chain))
  )
}

function textOf({ voters, learners, outgoing }: Configuration): string {
  return [voters, learners, outgoing].map((names) => [...names].sort().join(' ')).join(' | ')
}
