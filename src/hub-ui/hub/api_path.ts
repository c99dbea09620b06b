/** Where the API is: below the same origin as this page. */
export const API_PATH = '/hub/v2';
