/**
 * One node of bench-audit.ts: `node scripts/bench-audit-node.ts CONFIG audited|unaudited`.
 *
 * Owns: nothing but the switch, which no setting of a node offers.
 */
import { loadConfig } from '../src/config/load-config.ts'
import { startService } from '../src/service.ts'
import { createLogger } from '../src/telemetry/logger.ts'

const [file = '', how] = process.argv.slice(2)
const config = loadConfig(file, {})
const logger = createLogger({ level: 'warn', nodeId: config.node.id })
const service = await startService(config, logger, { isAudited: how === 'audited' })
process.once('SIGTERM', () => void service.stop().then(() => process.exit(0)))
