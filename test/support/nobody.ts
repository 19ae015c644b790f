/** Id of the user `nobody`, who is not root. */
export const NOBODY = 65_534;
