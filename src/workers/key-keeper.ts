/**
 * Keeps a node with the master key that the cluster agreed on, and completes a rotation.
 * The steps of the operator: deploy/runbooks/rotate-master-key.md
 *
 * Owns: announcing keys, moving to a newer key, sealing again, and dropping tenant keys whose row has changed.
 * Rules: each proposal here takes effect only if the state that it was decided on is unchanged, so any node may make it at any
 * time and any number of times; no secret passes through this module.
 */
import { setTimeout as wait } from 'node:timers/promises'
import { gauge, Condition, type Logger, type MetricSample, StartError } from '../../cluster/index.ts'
import type { MasterKey } from '../access/master-key.ts'
import type { SealedSecrets } from '../access/sealed-secrets.ts'
import type { Services } from '../operations/base/services.ts'
import { settle } from '../commands/settle.ts'
import { Refusal } from '../base/refusal.ts'
import type { View } from '../state-machine/base/view.ts'
import { tenantKeys } from '../state-machine/tenants/keys.ts'
import type { ClusterKeyRecord } from '../state-machine/tenants/records.ts'
import { pauseMs } from './repeating.ts'

const TURN_MS = 1000
/** Turns between two walks over all secrets while there is nothing to do but an older key is still in the file. */
const TURNS_PER_CLEAN_WALK = 60
/** Number of secrets that do not open in one log line. */
const NAMED_MAX = 10

export interface KeyKeeperParts {
  readonly masterKey: MasterKey
  readonly secrets: SealedSecrets
  readonly state: View
  readonly propose: Services['propose']
  readonly nodeId: string
  /** Node ids of all members, as they are now. */
  readonly members: () => readonly string[]
  /** One node is enough to seal again; two do no harm. */
  readonly isJobRunner: () => boolean
  /** Drops the open keys of tenants whose row has changed. */
  readonly forgetChangedKeys: () => void
  /** Called after each walk over all secrets, with the number of those that are not sealed under the newest key. */
  readonly onWalk: (secretsLeft: number) => void
  readonly logger: Logger
}

export class KeyKeeper {
  readonly #parts: KeyKeeperParts
  /** Result of the last walk; null before the first. */
  #remaining: number | null = null
  /** The last walk found nothing under an older key. */
  #wasClean = false
  #turnsToWalk = 0

  constructor(parts: KeyKeeperParts) {
    this.#parts = parts
  }

  /** Resolves when the signal fires; rejects with the error that must stop the node. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        await this.turn()
      } catch (error) {
        // No leader, or another node was quicker: the next turn looks again.
        if (!(error instanceof Condition) && !(error instanceof Refusal)) throw error
        this.#parts.logger.debug({ err: error }, 'master key turn put off')
      }
      await wait(pauseMs(TURN_MS, performance.now()), undefined, { signal }).catch(() => undefined)
    }
  }

  /** Reads the state once and acts on it. */
  async turn(): Promise<void> {
    this.#parts.forgetChangedKeys()
    const agreed = this.#parts.state.get(tenantKeys.clusterKey())
    if (agreed === undefined) return
    this.#follow(agreed)
    await this.#announce(agreed)
    await this.#advance(agreed)
    await this.#resealAll()
  }

  samples(): readonly MetricSample[] {
    const { masterKey } = this.#parts
    const help =
      'Secrets that are not sealed under the newest master key, as of the last walk; -1: none was made.'
    const keys = 'Master keys in the key file of this node.'
    return [
      gauge('holdfast_master_keys', keys, masterKey.ids.length),
      { name: 'holdfast_master_key_secrets_remaining', help, kind: 'gauge', value: this.#remaining ?? -1 },
    ]
  }

  #follow({ masterKeyFingerprint }: ClusterKeyRecord): void {
    const { masterKey, logger } = this.#parts
    if (masterKey.fingerprint === masterKeyFingerprint) return
    if (!masterKey.use(masterKeyFingerprint)) throw wrongMasterKey()
    this.#turnsToWalk = 0
    logger.info({ masterKey: masterKey.id }, 'sealing with another master key')
  }

  async #announce({ holders = {} }: ClusterKeyRecord): Promise<void> {
    const { masterKey, nodeId, propose } = this.#parts
    const { fingerprints } = masterKey
    const said = holders[nodeId]
    if (said?.join() === fingerprints.join()) return
    // Keys are announced only when there is a choice: a cluster that never rotates never needs these commands.
    if (said === undefined && fingerprints.length === 1) return
    settle(await propose({ type: 'announceMasterKeys', nodeId, fingerprints }))
  }

  async #advance({ masterKeyFingerprint: from, holders = {} }: ClusterKeyRecord): Promise<void> {
    const { masterKey, members, propose, logger } = this.#parts
    const nodes = members()
    const [to] = masterKey.fingerprints
    if (to === undefined || to === from || !nodes.every((node) => holders[node]?.[0] === to)) return
    settle(await propose({ type: 'advanceClusterKey', from, to, nodes }))
    logger.info(
      { masterKey: masterKey.ids[0] },
      'every node has the new master key, the cluster moves on to it',
    )
  }

  /** Only towards the newest key: while the cluster still seals with an older one, sealing again gains nothing. */
  async #resealAll(): Promise<void> {
    const { masterKey, isJobRunner, logger } = this.#parts
    const isDue = masterKey.ids.length > 1 && masterKey.id === masterKey.ids[0]
    if (!isDue || !isJobRunner()) return
    this.#turnsToWalk -= 1
    if (this.#turnsToWalk > 0) return
    const { found, sealed, lost, some } = await this.#walk()
    this.#remaining = found - sealed + lost
    this.#parts.onWalk(this.#remaining)
    if (found === 0) this.#turnsToWalk = TURNS_PER_CLEAN_WALK
    if (sealed > 0) {
      logger.info({ sealed, remaining: this.#remaining }, 'secrets sealed under the newest master key')
    }
    if (lost > 0) {
      logger.error({ secrets: lost, some }, 'secrets that no master key of this node opens')
    }
    if (this.#remaining === 0 && found === 0 && !this.#wasClean) {
      const older = masterKey.ids.slice(1)
      logger.info({ masterKeys: older }, 'nothing is sealed under an older master key any more')
    }
    this.#wasClean = this.#remaining === 0 && found === 0
  }

  async #walk(): Promise<{ found: number; sealed: number; lost: number; some: readonly string[] }> {
    const { secrets, propose } = this.#parts
    let [found, sealed, lost] = [0, 0, 0]
    const some: string[] = []
    for await (const { command, lost: owners } of secrets.rewraps()) {
      lost += owners.length
      some.push(...owners.slice(0, NAMED_MAX - some.length))
      found += command.items.length
      if (command.items.length > 0) sealed += settle(await propose(command)).rewrapped
    }
    return { found, sealed, lost, some }
  }
}

export function wrongMasterKey(): StartError {
  return new StartError(
    'wrong_master_key',
    'The master key of this cluster is not in the key file of this node',
    {
      hint: 'Give security.master_key_file the same file that the other nodes have, and start this node again. Nothing was changed.',
    },
  )
}
