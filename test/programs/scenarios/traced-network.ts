/**
 * A test network that records every input and every effect of its members.
 *
 * Owns: the trace and the time-outs, which a scenario chooses instead of chance. Knows nothing of: commands, files.
 * Rule: every input passes through input(), so nothing happens that is not in the trace. The checker of the test network
 * stays on: a broken promise throws, for any text of the scenario.
 */
import { InvariantError } from '../../../cluster/raft/assert.ts'
import { LIMITS, TestNetwork } from '../../raft/network.ts'
import { configurationText, effectText, inputText, messageText, roleText } from './notation.ts'
import type {
  Configuration,
  Effect,
  Entry,
  Input,
  LogIndex,
  Message,
  NodeId,
  RaftLimits,
  RaftStatus,
  TargetConfiguration,
} from '../../../cluster/raft/types.ts'

export interface GroupOptions {
  readonly configuration: Configuration
  /** Nodes that run, know the first configuration and wait to be added. */
  readonly spares: readonly NodeId[]
  readonly electionTicks: number
  /** Ticks that each member waits before it campaigns, at least electionTicks and less than twice that. */
  readonly timeouts: ReadonlyMap<NodeId, number>
  readonly limits: Partial<RaftLimits>
}

export class TracedNetwork extends TestNetwork {
  readonly names = { proposals: new Map<number, string>(), reads: new Map<number, string>() }
  /** Set while a command must break an invariant of the core. */
  mustStop = false
  readonly #group: GroupOptions
  readonly #lives = new Map<NodeId, number>()
  #lines: string[] = []
  #last: { readonly line: string; readonly text: string; times: number } | null = null
  #nextName = 1

  constructor(group: GroupOptions) {
    const { configuration, spares, electionTicks, limits } = group
    // Its messages may be forged.
    super(configuration, { electionTicks, limits, spares, disksForget: true })
    this.#group = group
    for (const node of this.nodes.values()) {
      this.crash(node.id)
      this.restart(node.id)
    }
    this.takeTrace()
  }

  takeTrace(): readonly string[] {
    this.#endRow()
    const lines = this.#lines
    this.#lines = []
    return lines
  }

  note(line: string): void {
    this.#endRow()
    this.#lines.push(line)
  }

  override input(id: NodeId, input: Input, crashAfter: number = Number.POSITIVE_INFINITY): readonly Effect[] {
    const { raft } = this.node(id)
    const line = `${id}${input.type === 'message' ? ` <- ${input.message.from}` : ''}: ${inputText(input, this.names)}`
    if (raft === null) {
      this.note(`${line} (${id} is down)`)
      return []
    }
    const before = raft.status()
    const effects = this.#step(line, () => super.input(id, input, crashAfter))
    if (effects === null) {
      this.crash(id)
      return []
    }
    this.messages = this.messages.filter((message) => !this.isCut(message.from, message.to))
    const started = effects.slice(0, crashAfter).map((effect) => this.#effectLine(effect))
    this.#record(line, [...changes(before, raft.status()), ...started])
    if (effects.length > crashAfter) this.note(`${id} crashes`)
    return effects
  }

  /** A link that was cut after the message had left. */
  override deliver(message: Message): void {
    const isLost = this.isCut(message.from, message.to)
    if (isLost) this.note(`${message.to} <- ${message.from}: ${messageText(message)} (lost)`)
    else super.deliver(message)
  }

  /** Every draw of one process is the same, so the time-out is the chosen one; processes differ. */
  override restart(id: NodeId): void {
    // The network starts its members before this object is complete; the constructor starts them again.
    if (!(#group in this)) {
      super.restart(id)
      return
    }
    const { electionTicks, limits, timeouts } = this.#group
    const life = (this.#lives.get(id) ?? -1) + 1
    this.#lives.set(id, life)
    const draw = electionTicks * life + (timeouts.get(id) ?? electionTicks) - electionTicks
    this.node(id).start({
      nodeId: id,
      electionTicks,
      random: () => draw,
      limits: { ...LIMITS, ...limits },
    })
  }

  proposeNamed(id: NodeId, name: string, data: Uint8Array): void {
    const proposalId = this.nextNameId()
    this.names.proposals.set(proposalId, name)
    this.input(id, { type: 'propose', proposalId, data })
  }

  readNamed(id: NodeId, name: string): void {
    const readId = this.nextNameId()
    this.names.reads.set(readId, name)
    const node = this.node(id)
    if (node.raft !== null) this.checker.readBegins(node, readId)
    this.input(id, { type: 'read', readId })
  }

  configureNamed(id: NodeId, configuration: TargetConfiguration, expectedIndex: LogIndex | null): void {
    const proposalId = this.nextNameId()
    this.names.proposals.set(proposalId, configurationText({ ...configuration, outgoing: [] }))
    this.input(id, { type: 'changeConfiguration', proposalId, configuration, expectedIndex })
  }

  nextNameId(): number {
    this.#nextName += 1
    return this.#nextName - 1
  }

  /** Entries of commands that the disk of a member holds from an earlier process. */
  plant(
    id: NodeId,
    disk: { readonly entries: readonly Entry[]; readonly term: number; readonly vote: NodeId | null },
  ): void {
    this.crash(id)
    const { disk: image } = this.node(id)
    image.restart({ index: 0, term: 0 })
    image.write({
      hardState: { currentTerm: disk.term, votedFor: disk.vote },
      base: null,
      entries: disk.entries,
    })
    this.#lives.delete(id)
    this.restart(id)
  }

  /** Null when an invariant broke as the scenario requires. */
  #step(line: string, step: () => readonly Effect[]): readonly Effect[] | null {
    try {
      return step()
    } catch (error) {
      if (!this.mustStop || !(error instanceof InvariantError)) throw error
      this.#record(line, [`stops: ${error.message}`])
      this.mustStop = false
      return null
    }
  }

  #effectLine(effect: Effect): string {
    const isLost = effect.type === 'send' && this.isCut(effect.message.from, effect.message.to)
    return effectText(effect, this.names) + (isLost ? ' (lost)' : '')
  }

  /** Equal consecutive events are written once. */
  #record(line: string, consequences: readonly string[]): void {
    const text = consequences.map((consequence) => `\n  ${consequence}`).join('')
    if (this.#last?.line !== line || this.#last.text !== text) {
      this.#endRow()
      this.#last = { line, text, times: 0 }
    }
    this.#last.times += 1
  }

  #endRow(): void {
    if (this.#last === null) return
    const { line, text, times } = this.#last
    this.#lines.push(...`${line}${times === 1 ? '' : `, ${times} times`}${text}`.split('\n'))
    this.#last = null
  }
}

export function statusText(network: TestNetwork, id: NodeId): string {
  const { raft } = network.node(id)
  if (raft === null) return `${id} is down`
  const { role, term, leaderId, commitIndex, appliedIndex } = raft.status()
  const { log } = network.node(id)
  const end = `${log.lastIndex}/${log.termAt(log.lastIndex) ?? '?'}`
  return `${id} ${roleText({ role, term, leaderId })}, log ${end}, commit ${commitIndex}, applied ${appliedIndex}, ${memberText(raft.status())}`
}

/** Changes of a step that no effect shows. */
function changes(before: RaftStatus, after: RaftStatus): readonly string[] {
  const lines: string[] = []
  if (after.commitIndex !== before.commitIndex) lines.push(`commit ${after.commitIndex}`)
  if (memberText(after) !== memberText(before)) lines.push(`configuration ${memberText(after)}`)
  return lines
}

function memberText({ configuration, configurationIndex }: RaftStatus): string {
  const origin = configurationIndex === 0 ? '' : ` of ${configurationIndex}`
  return `${configurationText(configuration)}${origin}`
}
