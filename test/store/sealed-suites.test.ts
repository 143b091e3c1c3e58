/** The contract of the state machine, its crashes and its installs, over a sealed state; a share of them in `npm test`. */
import { PLAYS_WHOLE } from '../helpers/proof-size.ts'

process.env['SEALED_METADATA'] = '1'
await import('./state-machine-contract.test.ts')
await import('./state-install.test.ts')
await import('./power-cut.test.ts')
if (PLAYS_WHOLE) {
  await import('./state-crash-contract.test.ts')
  await import('./state-install-contract.test.ts')
  await import('./value-files.test.ts')
}
