import manifest from '../../package.json' with { type: 'json' };

/** The version of the product, as its package says. */
export const productVersion: string = manifest.version;
