/**
 * The tasks of a node once after its start, as soon as the cluster answers.
 *
 * Owns: the comparison of the master key with the replicated state, and the granting of pending admin tokens.
 * Rule: a node whose master key is not the cluster's must stop; no other node could read data that it seals.
 */
import { setTimeout as wait } from 'node:timers/promises'
import { type Cluster, Condition, StartError } from '../../cluster/index.ts'
import type { MasterKey } from '../access/master-key.ts'
import type { SealedSecrets } from '../access/sealed-secrets.ts'
import type { Services } from '../operations/base/services.ts'
import { settle } from '../commands/settle.ts'
import type { MasterKeyGate } from './master-key-gate.ts'
import { wrongMasterKey } from './key-keeper.ts'
import { grantTokenRequests } from './pending-tokens.ts'
import { tenantKeys } from '../state-machine/tenants/keys.ts'

const RETRY_MS = 250

/** The cluster's key may be any line of the file: in a rotation the nodes get the new one after each other. */
async function checkMasterKey({ services, cluster, masterKey, secrets }: SettlingParts): Promise<void> {
  await cluster.readBarrier()
  const { fingerprint: masterKeyFingerprint } = masterKey
  const agreed =
    services.state.get(tenantKeys.clusterKey()) ??
    settle(await services.propose({ type: 'setClusterKey', masterKeyFingerprint }))
  if (!masterKey.use(agreed.masterKeyFingerprint)) {
    // Otherwise following the hint leads to the next refusal: the data directory would stay bound to the refused key.
    await cluster.forgetFingerprint()
    throw wrongMasterKey()
  }
  await refuseMissingKeys(secrets)
}

/** A line that was taken out of the file too early: found at the start rather than by the first request that needs it. */
async function refuseMissingKeys(secrets: SealedSecrets): Promise<void> {
  const missing = await secrets.missing()
  if (missing === null) return
  const key = missing.masterKeyId === null ? 'a master key' : `master key '${missing.masterKeyId}'`
  throw new StartError(
    'master_key_needed',
    `The secret of ${missing.owner} is sealed under ${key}, which is not in the key file of this node`,
    {
      hint: 'Put the line of that key back into security.master_key_file; it may go when metric holdfast_master_key_secrets_remaining is 0.',
    },
  )
}

export interface SettlingParts {
  readonly services: Services
  /** The machine itself: the one that serves requests is held back until this is done. */
  readonly cluster: Pick<Cluster, 'readBarrier' | 'forgetFingerprint'>
  readonly masterKey: MasterKey
  readonly secrets: SealedSecrets
  readonly masterKeyGate: MasterKeyGate
}

/** Resolves when all is done or the signal fired; rejects only with an error that must stop the node. */
export async function runStartupTasks(parts: SettlingParts, signal: AbortSignal): Promise<void> {
  const { services, masterKeyGate } = parts
  const { config, logger } = services
  const steps = [
    async () => {
      await checkMasterKey(parts)
      masterKeyGate.reached()
    },
    () => grantTokenRequests(services, config.node.dataDir, logger),
  ]
  for (const step of steps) {
    while (!signal.aborted) {
      try {
        await step()
        break
      } catch (error) {
        // No leader yet, or one that just changed: everything here may be repeated.
        if (!(error instanceof Condition)) throw error
        await wait(RETRY_MS, undefined, { signal }).catch(() => undefined)
      }
    }
  }
}
