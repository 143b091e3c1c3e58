/**
 * Everything that the npm package contains and git does not: the bundle, unless it is fresh, and the client with its types.
 *
 * Rule: standard output stays empty, because `npm pack --json` prints its own.
 */
import { ROOT } from '../supply-chain/lockfile.ts'
import { buildClient } from './client.ts'
import './main.ts'

buildClient(ROOT)
