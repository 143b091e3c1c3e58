/** What a node may do in Vault, as the guide shows it: taken from there, so that the guide is what is tried. */
import { readFileSync } from 'node:fs'

const GUIDE = readFileSync(new URL('../../docs/guide/master-key.md', import.meta.url), 'utf8')

export const VAULT_POLICY = /```hcl\n([^`]+)```/.exec(GUIDE)?.[1] ?? ''
