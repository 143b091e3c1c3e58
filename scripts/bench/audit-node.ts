/**
 * One node of audit.ts: `node scripts/bench/audit-node.ts CONFIG`. A message `true` or `false` turns its audit log on or off,
 * and is sent back.
 *
 * Owns: only the switch, which no setting of a node offers.
 */
import { loadConfig } from '../../src/config/load-config.ts'
import { startService } from '../../src/service/service.ts'
import { createLogger } from '../../src/telemetry/logger.ts'

const [file = ''] = process.argv.slice(2)
const config = loadConfig(file, {})
const logger = createLogger({ level: 'warn', nodeId: config.node.id })
let isAudited = true
const service = await startService(config, logger, { isAudited: () => isAudited })
process.on('message', (wanted: boolean) => {
  isAudited = wanted
  process.send?.(wanted)
})
process.once('SIGTERM', () => void service.stop().then(() => process.exit(0)))
