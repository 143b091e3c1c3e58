/**
 * What SIGHUP does to a running node: certificates are read at once, and the level of the log follows the configuration.
 *
 * Owns: which settings are taken over. Rule: it never ends a node; a configuration that cannot be read changes nothing and is reported.
 */
import type { Logger as PinoLogger } from 'pino'
import { lookAtCertificates } from '../../../cluster/index.ts'
import { loadConfig } from '../../config/load-config.ts'
import { setLogLevel } from '../../telemetry/logger.ts'

/** Never rejects. */
export async function reload(configFile: string, logger: PinoLogger): Promise<void> {
  try {
    const { level } = loadConfig(configFile, process.env).logging
    setLogLevel(logger, level)
    logger.info({ level }, 'log level read again')
  } catch (err) {
    logger.error({ err }, 'configuration cannot be read again, the present one stays')
  }
  await lookAtCertificates()
}
