/**
 * What an attack is: something a client does to a running cluster while another client, its victim, continues to work.
 *
 * Owns: the interface that every attack implements. An attack is one file here, listed in attacks.ts.
 */

/** One node, as a client reaches it. */
export interface AttackedNode {
  readonly nodeId: string
  /** `http://host:port`, without a path. */
  readonly dataUrl: string
  readonly adminUrl: string
  /** `host:port`. */
  readonly peerAddress: string
  readonly dataDir: string
  readonly logFile: string
  readonly pid: number
}

/** A tenant with the bucket `photos` and a key that may do everything in it. */
export interface Account {
  readonly tenantId: string
  readonly accessKeyId: string
  readonly secretKey: string
  readonly bucket: string
  /** A bearer token of the key. */
  readonly token: string
}

export interface AttackTarget {
  readonly nodes: readonly AttackedNode[]
  /** The tenant of the victim. */
  readonly acme: Account
  /** The tenant of the attacker. */
  readonly evil: Account
  /** An admin token with the role owner. */
  readonly ownerToken: string
}

/** A request that is repeated during the attack. */
export interface Victim {
  readonly title: string
  /** `n`: the number of the request, for a name of its own. Throws when the request has failed. */
  request(target: AttackTarget, node: AttackedNode, call: { n: number; signal: AbortSignal }): Promise<void>
}

/** What an attack has counted, by names that stand in the report. */
export type Counts = Readonly<Record<string, number>>

export interface Attack {
  /** As in the report of the review, for example `D1`. */
  readonly id: string
  readonly title: string
  readonly victim: Victim
  /** Time from the start of the attack until the victim is measured, in milliseconds. Absent: LEAD_MS. */
  readonly leadMs?: number
  /** Attacks until the signal is aborted, then closes all it has opened and returns. */
  run(target: AttackTarget, signal: AbortSignal): Promise<Counts>
}

export const LEAD_MS = 3000
