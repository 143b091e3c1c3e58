/** How long certificates are valid unless an option says otherwise: in a file without imports, because `--help` reads it. */
export const AUTHORITY_DAYS = 3650
export const NODE_DAYS = 365
