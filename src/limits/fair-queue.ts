/**
 * Whose turn it is: a bounded number of requests are worked on at once, and those that wait are served in rounds over the tenants.
 *
 * Owns: the order and the bounds; pure, time is passed in. Knows nothing of: requests, timers. Rules: a turn covers work of the node and
 * never a wait for the client; a tenant gets as many turns in a round as its weight, however much it asks for; a turn that lasts longer
 * than its lease counts no more, because its request waits for something itself and others must not wait for that.
 */
export interface Turn {
  readonly tenant: string
  /** Within a tenant the lanes are served in rounds as well. */
  readonly lane: string
  readonly weight: number
  /** Part of a request that has started: it must end before others of its tenant can begin, so it goes before them. */
  readonly isContinued: boolean
}

export interface FairQueueOptions<T extends Turn> {
  readonly workMax: number
  /** Of the tenant of this turn; what it leaves is there for others at once. */
  readonly tenantWorkMax: (turn: Pick<T, 'tenant' | 'weight'>) => number
  readonly leaseMs: number
  /** Of those that have not started, for each tenant. */
  readonly waitingMax: number
  /** Whether a turn that has not started may begin now, as far as its own caller is concerned. */
  readonly mayBegin: (turn: T) => boolean
}

interface TenantLane<T> {
  readonly tenant: string
  working: number
  waiting: number
  /** Turns in a round, and those left in this one. */
  weight: number
  credit: number
  readonly continued: T[]
  readonly lanes: Map<string, T[]>
}

export class FairQueue<T extends Turn> {
  readonly #options: FairQueueOptions<T>
  /** Only tenants with work or waiting turns. */
  readonly #tenants = new Map<string, TenantLane<T>>()
  /** Tenants with waiting turns, the one whose turn it is first. */
  #round: TenantLane<T>[] = []
  /** By turn, in the order of their beginning, when it began. */
  readonly #working = new Map<T, number>()
  #waiting = 0

  constructor(options: FairQueueOptions<T>) {
    this.#options = options
  }

  get working(): number {
    return this.#working.size
  }

  get waiting(): number {
    return this.#waiting
  }

  /** True: it works now. False: the caller lets it wait or gives it up. */
  begin(turn: T, nowMs: number): boolean {
    const lane = this.#laneOf(turn.tenant)
    // What came before it goes before it, where it could go at all.
    const isOvertaking = lane.waiting > 0 && !turn.isContinued && lane.lanes.has(turn.lane)
    const { workMax, mayBegin } = this.#options
    if (this.#working.size >= workMax) this.#endOverdue(nowMs)
    const hasRoom = this.#working.size < workMax && this.#hasShare(lane, turn.weight)
    if (isOvertaking || !hasRoom || !(turn.isContinued || mayBegin(turn))) {
      this.#forgetIdle(lane)
      return false
    }
    this.#start(lane, turn, nowMs)
    return true
  }

  /** False: too many of this tenant wait. Turns that continue always may. */
  wait(turn: T): boolean {
    const lane = this.#laneOf(turn.tenant)
    if (!turn.isContinued && lane.waiting >= this.#options.waitingMax) return false
    lane.weight = turn.weight
    if (lane.waiting === 0) {
      lane.credit = turn.weight
      this.#round.push(lane)
    }
    lane.waiting += 1
    this.#waiting += 1
    const before = lane.lanes.get(turn.lane)
    if (turn.isContinued) lane.continued.push(turn)
    else if (before === undefined) lane.lanes.set(turn.lane, [turn])
    else before.push(turn)
    return true
  }

  /** Of a turn that works or waits. Repeating it changes nothing. */
  end(turn: T): void {
    const lane = this.#tenants.get(turn.tenant)
    if (lane === undefined) return
    if (this.#working.delete(turn)) lane.working -= 1
    else this.#giveUp(lane, turn)
    this.#forgetIdle(lane)
  }

  /** The next one to work, which works from now on; null: none can. */
  next(nowMs: number): T | null {
    if (this.#waiting === 0) return null
    this.#endOverdue(nowMs)
    if (this.#working.size >= this.#options.workMax) return null
    for (let looks = this.#round.length; looks > 0; looks--) {
      const lane = this.#round[0]
      if (lane === undefined) return null
      const turn = this.#hasShare(lane, lane.weight) ? this.#pick(lane) : null
      if (turn !== null) lane.credit -= 1
      if (turn === null || lane.credit <= 0 || lane.waiting === 0) this.#passOn(lane)
      if (turn === null) continue
      this.#start(lane, turn, nowMs)
      return turn
    }
    return null
  }

  #start(lane: TenantLane<T>, turn: T, nowMs: number): void {
    this.#working.set(turn, nowMs)
    lane.working += 1
  }

  #hasShare({ tenant, working }: TenantLane<T>, weight: number): boolean {
    return working < this.#options.tenantWorkMax({ tenant, weight })
  }

  /** To the end of the round, or out of it. */
  #passOn(lane: TenantLane<T>): void {
    this.#round.shift()
    lane.credit = lane.weight
    if (lane.waiting > 0) this.#round.push(lane)
  }

  #pick(lane: TenantLane<T>): T | null {
    const first = lane.continued.shift()
    if (first !== undefined) return this.#taken(lane, first)
    for (const [name, turns] of lane.lanes) {
      const turn = turns[0]
      if (turn === undefined || !this.#options.mayBegin(turn)) continue
      turns.shift()
      lane.lanes.delete(name)
      if (turns.length > 0) lane.lanes.set(name, turns)
      return this.#taken(lane, turn)
    }
    return null
  }

  #taken(lane: TenantLane<T>, turn: T): T {
    lane.waiting -= 1
    this.#waiting -= 1
    return turn
  }

  #giveUp(lane: TenantLane<T>, turn: T): void {
    const turns = turn.isContinued ? lane.continued : (lane.lanes.get(turn.lane) ?? [])
    const at = turns.indexOf(turn)
    if (at < 0) return
    turns.splice(at, 1)
    if (!turn.isContinued && turns.length === 0) lane.lanes.delete(turn.lane)
    this.#taken(lane, turn)
    if (lane.waiting === 0) this.#round = this.#round.filter((one) => one !== lane)
  }

  #endOverdue(nowMs: number): void {
    for (const [turn, beganMs] of this.#working) {
      if (nowMs - beganMs < this.#options.leaseMs) return
      this.end(turn)
    }
  }

  #laneOf(tenant: string): TenantLane<T> {
    const known = this.#tenants.get(tenant)
    if (known !== undefined) return known
    const made: TenantLane<T> = {
      tenant,
      working: 0,
      waiting: 0,
      weight: 1,
      credit: 0,
      continued: [],
      lanes: new Map(),
    }
    this.#tenants.set(tenant, made)
    return made
  }

  #forgetIdle(lane: TenantLane<T>): void {
    if (lane.working === 0 && lane.waiting === 0) this.#tenants.delete(lane.tenant)
  }
}
