/**
 * Everything that the npm package contains and git does not: the bundle, unless it is fresh, the client with its types, and the
 * documentation.
 *
 * Rule: standard output stays empty, because `npm pack --json` prints its own.
 */
import { ROOT } from '../supply-chain/lockfile.ts'
import { writeArchive } from '../docs/main.ts'
import { buildClient } from './client.ts'
import './main.ts'

buildClient(ROOT)
writeArchive(ROOT)
