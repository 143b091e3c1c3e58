/**
 * The master key at a start: opened at once, or waited for where everyone can see it.
 *
 * Owns: what is said of a wait. Knows nothing of: providers.
 * Rules: nothing on the disk is changed before the key is there; the wait ends by itself, and with the process.
 */
import type { Logger } from '../../cluster/index.ts'
import type { MasterKey } from '../access/master-key.ts'
import { loadMasterKey } from '../access/provided-keys.ts'
import { ProviderCheck } from '../access/provider-check.ts'
import { createWaitingServer } from '../api/server/waiting-server.ts'
import type { Config } from '../config/types.ts'
import { KeyProviderWatch } from '../workers/key-provider-watch.ts'
import { listen } from './listen.ts'

export function openWatch(config: Config, masterKey: MasterKey, logger: Logger): KeyProviderWatch {
  const { security } = config
  const check = new ProviderCheck(security, () => masterKey.fingerprint)
  return new KeyProviderWatch({ check, everyMs: security.masterKeyCheckEveryMs, logger })
}

/** Throws StartError, and the reason of `signal` when it fires. */
export async function openMasterKey(config: Config, logger: Logger, signal: AbortSignal): Promise<MasterKey> {
  const { masterKeyWaitMs: waitMs } = config.security
  let missing: string | null = null
  let close = async (): Promise<void> => undefined
  try {
    return await loadMasterKey(config.security, {
      waitMs,
      signal,
      onWait: async (reason) => {
        logger.warn({ reason, waitMs }, 'waiting for the provider of the master key')
        const isFirst = missing === null
        missing = reason
        if (!isFirst) return
        const server = createWaitingServer(config, logger, () => missing ?? '')
        close = async () => server.close()
        await listen(server, config.listeners.admin, 'listeners.admin')
      },
    })
  } finally {
    await close()
  }
}
